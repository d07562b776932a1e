import math
from dataclasses import replace

import msgspec
import pytest
from synthetic_dataset import RTT_MS, make_plan

from resolab.report.findings.oracle import Oracle
from resolab.report.findings.page_loads import condition_results
from resolab.store.outcomes import PLT, RESPONSE_START
from resolab.store.rows import LoadRow

PLAN = make_plan()


def load(
    block: int,
    condition: str,
    plt_ms: float | None,
    failure: str | None = None,
    *,
    loaded: bool = True,
    lcp_ms: float | None = None,
) -> LoadRow:
    page, profile, transport, version, mode = condition.split(".")
    return LoadRow(
        trial_id=f"b{block}",
        block=block,
        condition=condition,
        page=page,
        profile=profile,
        dns_transport=transport,
        http_version=version,
        requested_handshake_mode=mode,
        resolver_path="native",
        loaded=loaded,
        handshake_mode=mode if loaded else None,
        limit_ms=30_000.0 if loaded else None,
        failure=failure,
        times_ms={"plt": plt_ms, "lcp": plt_ms if lcp_ms is None else lcp_ms},
    )


BASE = "example.4g.doudp.h3.full"
DOH = "example.4g.doh.h3.full"


def result(loads: list[LoadRow], condition: str = DOH):
    return next(
        one for one in condition_results(PLAN, loads, Oracle(PLAN, RTT_MS), PLT) if one.condition.id == condition
    )


def test_pairs_are_made_within_blocks() -> None:
    loads = [load(block, BASE, 100.0 * block) for block in range(5)]
    loads += [load(block, DOH, 100.0 * block + 20 + block) for block in (4, 1, 3)]
    comparison = result(loads).comparison
    assert comparison is not None
    assert comparison.blocks_ms == (21, 23, 24)
    assert comparison.difference_ms.value == 23
    assert comparison.change.n == 3
    assert comparison.expected.round_trips_ms == 2 * RTT_MS["4g"]


def test_what_is_expected_of_a_look_up_counts_at_the_resolvers_distance() -> None:
    plan = replace(
        PLAN, factors=replace(PLAN.factors, levels={**PLAN.factors.levels, "resolver_extra_rtt_ms": (30.0,)})
    )
    found = {one.condition.id: one.comparison for one in condition_results(plan, [], Oracle(plan, RTT_MS), PLT)}
    assert found[DOH] is not None
    assert found[DOH].expected.round_trips_ms == 2 * (RTT_MS["4g"] + 30)


def test_a_baseline_is_not_compared_with_itself() -> None:
    assert result([load(0, BASE, 1.0)], BASE).comparison is None


@pytest.mark.parametrize("failure", ["page_timeout", "dns", "connect", "tls", "http_status"])
def test_loads_the_network_failed_count_as_at_least_their_limit(failure: str) -> None:
    one = result([load(0, DOH, 100.0), load(1, DOH, None, failure), load(2, DOH, None, failure)])
    assert (one.failed_count, one.unusable_count) == (2, 0)
    assert (one.median_ms.low, one.median_ms.high) == (30_000.0, math.inf)


@pytest.mark.parametrize("failure", ["driver", "browser_crash", "browser_hang"])
def test_loads_the_instrument_lost_are_left_out_and_counted(failure: str) -> None:
    one = result([load(0, DOH, 100.0), load(1, DOH, None, failure), load(2, DOH, None, loaded=False)])
    assert (one.trials_count, one.failed_count, one.unusable_count) == (3, 0, 2)
    assert (one.median_ms.value, one.median_ms.n) == (100.0, 1)


def test_conditions_without_loads_are_still_listed() -> None:
    results = condition_results(PLAN, [], Oracle(PLAN, RTT_MS), PLT)
    assert len(results) == 24
    assert all(one.median_ms.n == 0 for one in results)


@pytest.mark.parametrize("failure", ["incomplete", "page_timeout"])
def test_a_first_byte_that_was_seen_counts_in_differences_and_medians(failure: str) -> None:
    """Of six loads that lack parts of their page all first bytes were seen: the difference is no bound."""

    def seen(block: int, condition: str, first_byte_ms: float, why: str | None = None) -> LoadRow:
        one = load(block, condition, 2_000.0, why)
        return msgspec.structs.replace(one, times_ms=one.times_ms | {"response_start": first_byte_ms})

    loads = [seen(block, BASE, 800.0 + block) for block in range(8)]
    loads += [seen(block, DOH, 1_300.0 + block, failure if block > 1 else None) for block in range(8)]
    found = condition_results(PLAN, loads, Oracle(PLAN, RTT_MS), RESPONSE_START)
    one = next(result for result in found if result.condition.id == DOH)
    assert one.comparison is not None
    assert (one.comparison.difference_ms.value, one.comparison.difference_ms.censored_count) == (500.0, 0)
    assert (one.told_count, one.failed_count, one.range_ms) == (8, 6, (1_300.0, 1_307.0))
    # The load time has no such values: what is missing made it shorter.
    plt = result(loads)
    assert plt.told_count == 2
    assert math.isinf(plt.median_ms.high)
