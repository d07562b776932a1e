import math
from pathlib import Path

import pytest
from h20_dataset import RTT_MS as H20_RTT_MS
from h20_dataset import Arm, Query, make_h20_dataset
from synthetic_dataset import RTT_MS, Faults, make_dataset, make_plan

from resolab.report.findings import exchanges
from resolab.report.findings.analysis import analyse
from resolab.report.findings.exchanges import exchange_results
from resolab.report.parts.figures import exchange_series
from resolab.report.parts.sentences import answers
from resolab.report.parts.tables import exchange_table
from resolab.stats import Method
from resolab.store import build_tables, open_dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_dataset(tmp_path_factory.mktemp("exchanges") / "d", faults=Faults(timeouts=True))
    build_tables(made)
    return made


def test_many_exchanges_give_the_same_medians_without_being_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dataset(folder) as dataset:
        few = exchange_results(make_plan(), dataset, RTT_MS)
        listed = len(dataset.cold_exchanges())
        assert not dataset.has_more_cold_exchanges(listed)
        monkeypatch.setattr(exchanges, "LISTED_COUNT", listed - 1)
        monkeypatch.setattr(dataset, "cold_exchanges", None)
        many = exchange_results(make_plan(), dataset, RTT_MS)
    assert len(few) == 6
    assert sum(one.failed_count for one in few) > 0
    for one, other in zip(few, many, strict=True):
        names = ("profile", "dns_transport", "requested_handshake_mode", "n", "failed_count", "reached_count")
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
        assert other.median_ms.value == pytest.approx(one.median_ms.value)
        assert other.remainder_ms.value == pytest.approx(one.remainder_ms.value)
        assert other.median_ms.method is Method.ORDER_STATISTIC
        # Two intervals for one median: each holds it, and they overlap.
        assert other.median_ms.ci_low <= one.median_ms.value <= other.median_ms.ci_high
        assert max(one.median_ms.ci_low, other.median_ms.ci_low) <= min(one.median_ms.ci_high, other.median_ms.ci_high)


def test_curves_rise_to_the_share_that_succeeded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_dataset(folder) as dataset:
        for limit in (exchanges.LISTED_COUNT, 0):
            monkeypatch.setattr(exchanges, "LISTED_COUNT", limit)
            for one in exchange_results(make_plan(), dataset, RTT_MS):
                assert list(one.round_trips) == sorted(one.round_trips)
                assert list(one.shares) == sorted(one.shares)
                assert all(map(math.isfinite, one.round_trips))
                assert one.shares[-1] == pytest.approx(1 - one.failed_count / one.n, abs=0.005)


# What a query takes beyond its round trips, and what the resolver waits for what it has not cached.
COST_MS, MISS_MS = 0.5, 40.0


def response_ms(arm: Arm) -> float:
    trips = {"doudp": 1, "dot": 3}[arm.dns_transport]
    return trips * (H20_RTT_MS[arm.profile] + arm.extra_rtt_ms) + COST_MS + MISS_MS * (arm.cache == "miss")


def resolvers_dataset(folder: Path, resolvers: list[tuple[float, str]]) -> Path:
    arms = [Arm("office", transport, *resolver) for resolver in resolvers for transport in ("doudp", "dot")]
    queries = {
        arm: [[Query(response_ms(arm), connection=None if arm.dns_transport == "doudp" else "cold")]] * 8
        for arm in arms
    }
    return make_h20_dataset(folder, {arm: [100.0] * 8 for arm in arms}, queries)


RESOLVERS = [(0.0, "hit"), (0.0, "miss"), (26.65, "hit"), (26.65, "miss")]


@pytest.mark.parametrize("listed", [exchanges.LISTED_COUNT, 0])
def test_resolvers_are_not_pooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: int) -> None:
    monkeypatch.setattr(exchanges, "LISTED_COUNT", listed)
    with open_dataset(resolvers_dataset(tmp_path / "d", RESOLVERS)) as dataset:
        findings = analyse(dataset)
    found = {(one.resolver_extra_rtt_ms, one.resolver_cache, one.dns_transport): one for one in findings.exchanges}
    assert list(found) == [(*resolver, transport) for resolver in RESOLVERS for transport in ("doudp", "dot")]
    for (extra_rtt_ms, cache, _), one in found.items():
        assert one.n == 8
        assert one.rtt_ms == pytest.approx(10.0 + extra_rtt_ms)
        assert one.remainder_ms.value == pytest.approx(COST_MS + MISS_MS * (cache == "miss"), abs=0.02)
    table = exchange_table(findings)
    assert table.columns[:5] == ("profile", "resolver beyond the link", "cache", "transport", "handshake")
    assert [row[1:4] for row in table.rows][:3] == [
        ("+0 ms", "hit", "DoUDP"), ("+0 ms", "hit", "DoT"), ("+0 ms", "miss", "DoUDP"),
    ]  # fmt: skip
    assert table.words == frozenset(range(5))
    places = [one.place for one in exchange_series(findings)]
    assert places[-1] == "office, resolver +26.65 ms, cache miss"
    (sentence,) = (one for one in answers(findings) if one.startswith("A cold DoT exchange (cache miss)"))
    assert "takes 3 round trips and, at the median, 40.50 ms more (office (resolver +0 ms) [" in sentence


def test_a_single_resolver_is_not_named(tmp_path: Path) -> None:
    with open_dataset(resolvers_dataset(tmp_path / "d", [(26.65, "hit")])) as dataset:
        findings = analyse(dataset)
    assert exchange_table(findings).columns[:3] == ("profile", "transport", "handshake")
    assert {one.place for one in exchange_series(findings)} == {"office"}
    assert [one.rtt_ms for one in findings.exchanges] == pytest.approx([36.65, 36.65])
    assert answers(findings)[-1].startswith(
        "A cold DoT exchange takes 3 round trips and, at the median, 0.50 ms more (office ["
    )
