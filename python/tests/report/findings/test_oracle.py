"""The closed form of comparisons: round trips always, bytes where they were captured, and the table of what is left.

For: `findings.oracle`, `report.closed_form`. Not for: the captured bytes themselves (`scripts/bench browsers --flights`).
"""

from dataclasses import replace

import pytest
from synthetic_dataset import PLAN_TEXT, RTT_MS, make_dataset, make_plan

from resolab.basics.installation import project_root
from resolab.basics.protocols import ExchangeSizes, first_byte_bytes
from resolab.basics.records import ConnectionState
from resolab.plan import Condition, Corpus, access_rtt_ms
from resolab.report.findings.analysis import analyse
from resolab.report.findings.dataset_plan import read_plan
from resolab.report.findings.findings import Findings
from resolab.report.findings.oracle import Oracle
from resolab.report.parts.closed_form import build_closed_form_table
from resolab.stats import Method
from resolab.store import build_tables, open_dataset

DSL = PLAN_TEXT.replace('profile = ["fiber", "4g"]', 'profile = ["fiber", "dsl"]').replace(
    '["example", "wikipedia"]', '["wikipedia"]'
)
PLAN = make_plan(DSL)
LINKS = {name: Corpus.from_project().profile(name) for name in ("fiber", "dsl")}
ORACLE = Oracle(PLAN, RTT_MS, LINKS)


def condition(transport: str, profile: str = "dsl") -> Condition:
    wanted = (profile, transport, "full")
    return next(
        one for one in PLAN.conditions() if (one.profile, one.dns_transport, one.requested_handshake_mode) == wanted
    )


def test_bytes_are_those_of_both_ways_over_both_rates() -> None:
    own, other = (first_byte_bytes("chromium", f"native-{transport}", "h3", "full") for transport in ("doh", "doudp"))
    assert own is not None
    assert other is not None
    found = ORACLE.predict_extra_time(condition("doh"), condition("doudp"))
    link = LINKS["dsl"]
    assert link.up.rate_bps is not None
    assert link.down.rate_bps is not None
    expected_ms = (own.up - other.up) * 8e3 / link.up.rate_bps + (own.down - other.down) * 8e3 / link.down.rate_bps
    assert found.bytes_ms == pytest.approx(expected_ms)
    assert 25 < expected_ms < 40  # a second kilobyte of hello, two queries and their answers on 0.84 Mbit/s
    assert found.round_trips_ms == pytest.approx(2 * RTT_MS["dsl"])
    assert found.total_ms == pytest.approx(2 * RTT_MS["dsl"] + expected_ms)


def test_what_was_not_captured_has_round_trips_alone() -> None:
    warm = replace(condition("doh"), dns_connection_state=ConnectionState.WARM)
    found = ORACLE.predict_extra_time(warm, condition("doudp"))
    assert (found.round_trips_ms, found.bytes_ms, found.total_ms) == (0, None, 0)
    without_rates = Oracle(PLAN, RTT_MS).predict_extra_time(condition("doh"), condition("doudp"))
    assert without_rates.bytes_ms is None
    assert without_rates.total_ms == pytest.approx(2 * RTT_MS["dsl"])


EXCHANGES = project_root() / "docs" / "results" / "exchange-handshakes"


def test_exchanges_have_bytes_by_their_recorded_sizes() -> None:
    with open_dataset(EXCHANGES) as dataset:
        plan, sizes = read_plan(dataset), dataset.exchange_sizes()
        links = {link.name: link for link in dataset.manifest.profiles}
    assert sizes.keys() == {one.id for one in plan.conditions()}
    by_key = {(one.profile, one.dns_transport, one.requested_dns_handshake_mode): one for one in plan.conditions()}
    full, resumed = by_key["4g", "dot", "full"], by_key["4g", "dot", "resumed"]
    assert sizes[full.id] == ExchangeSizes(128, 468, 1_462, 1_210, 428, 2, 2)
    assert (sizes[resumed.id].client_hello_bytes, sizes[resumed.id].certificate_bytes) == (1_541, None)
    oracle = Oracle(plan, {name: access_rtt_ms(link) for name, link in links.items()}, links, sizes)
    found = oracle.predict_extra_time(full, by_key["4g", "doudp", "full"])
    assert found.round_trips_ms == pytest.approx(183.705, abs=0.001)
    assert found.bytes_ms == pytest.approx(1.123, abs=0.001)
    # A distant resolver adds round trips and no bytes.
    far = replace(full, resolver_extra_rtt_ms=50.0)
    known = Oracle(plan, oracle.rtt_ms, links, sizes | {far.id: sizes[full.id]})
    assert known.predict_extra_time(far, full).bytes_ms == pytest.approx(0)
    warm = replace(full, dns_connection_state=ConnectionState.WARM)
    assert oracle.predict_extra_time(warm, full).bytes_ms is None
    # The flights of another maker's resolver are not the edge's.
    own = replace(full, resolver_software="unbound")
    assert Oracle(plan, oracle.rtt_ms, links, sizes | {own.id: sizes[full.id]})._bytes_ms(own) is None


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("oracle") / "dataset"
    make_dataset(folder, PLAN)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


def test_a_dataset_without_hellos_has_no_bytes_and_no_table(found: Findings) -> None:
    assert not found.oracle.links
    assert build_closed_form_table(found) is None


def test_every_comparison_has_its_residual_and_says_whether_its_interval_holds_it(found: Findings) -> None:
    table = build_closed_form_table(replace(found, oracle=ORACLE))
    assert table is not None
    rows = [row for row in table.rows if row["outcome"] == "plt"]
    assert len(rows) == len(found.plt.comparisons)
    for row in rows:
        left_over = float(str(row["difference_ms"])) - float(str(row["closed_form_ms"]))
        assert row["left_over_ms"] == pytest.approx(left_over)
        inside = float(str(row["ci_low_ms"])) <= float(str(row["closed_form_ms"])) <= float(str(row["ci_high_ms"]))
        assert row["interval_holds_closed_form"] == int(inside)
    held = sum(int(str(row["interval_holds_closed_form"])) for row in rows)
    assert f"{held} of {len(rows)}" in table.note


def test_comparisons_without_an_interval_are_not_counted_as_missing_it(found: Findings) -> None:
    """Two blocks have no interval of any comparison: nothing is said of what it holds."""
    few = [
        replace(one, difference_ms=replace(one.difference_ms, ci_low=None, ci_high=None, method=Method.NONE))
        for one in found.plt.comparisons
    ]
    whole = build_closed_form_table(replace(found, oracle=ORACLE))
    assert whole is not None
    assert "left out" not in whole.note
    table = build_closed_form_table(replace(found, oracle=ORACLE, plt=replace(found.plt, comparisons=few)))
    assert table is not None
    assert "of PLT 0 of 0 (0 by round trips alone)" in table.note
    assert f"{len(few)} comparisons without an interval left out" in table.note
