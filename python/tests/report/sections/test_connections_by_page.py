"""What sharing connections changes over sampled pages: pairs by page, counts beside times, nothing without a gateway."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import synthetic_dataset
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.plan import Plan
from resolab.report.build import make_report
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.plots import ABSENT
from resolab.report.sections.connections.section import connection_content
from resolab.store import build_tables, open_dataset
from resolab.store.connections.loads import LoadConnectionsRow
from resolab.store.rows import LoadRow

PAGES = ("example", "wikipedia", "instagram", "flat-4", "flat-12")
GATEWAY = """
name = "shared"
question = "What does it save?"
seed = 7
[design]
unit = "page"
[factors]
page = ["example", "wikipedia", "instagram", "flat-4", "flat-12"]
profile = ["4g"]
dns_transport = ["doh3"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
connection_sharing = ["separate", "origin_frame"]
[resolver_path]
doh3 = ["native", "gateway"]
[[exclude]]
resolver_path = ["native"]
connection_sharing = ["origin_frame"]
[baseline]
resolver_path = "gateway"
connection_sharing = "separate"
"""
SEPARATE = {"names_count": 5, "connections_count": 5, "full_count": 4, "zero_rtt_count": 1, "unused_count": 1}
SHARED = {"names_count": 5, "connections_count": 2, "full_count": 2, "shared_requests_count": 3}


def row(trial_id: str, condition: str, counts: Mapping[str, int]) -> LoadConnectionsRow:
    words = ("trial_id", "condition", "speculation", "discarded_because")
    numbers = dict.fromkeys((one for one in LoadConnectionsRow.__struct_fields__ if one not in words), 0) | counts
    told = {"trial_id": trial_id, "condition": condition, "speculation": None, "discarded_because": None}
    return LoadConnectionsRow(**numbers | told)  # type: ignore[arg-type]


def found(folder: Path, plan: Plan, without: str = "none") -> Findings:
    """Have every load but those of one page on connections of ours."""
    make_dataset(folder, plan)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    rows = [
        row(one.trial_id, one.condition, SHARED if "origin_frame" in one.condition else SEPARATE)
        for one in findings.loads
        if one.page != without
    ]
    return replace(findings, load_connections=rows)


def test_each_page_is_a_pair_and_the_table_sums_them_up(tmp_path: Path) -> None:
    findings = found(tmp_path / "d", make_plan(GATEWAY))
    section = connection_content(findings)
    table = next(one for one in section.tables if one.name == "connections_over_pages")
    shared = next(one for one in table.rows if "origin_frame" in str(one["treatment"]))
    assert (shared["pages_count"], shared["names_count"]) == (5, 5)
    # Five and one that was never used, four of six with a round trip of handshake; two are left.
    assert (shared["baseline_connections_count"], shared["connections_difference"]) == (6, -4)
    assert shared["handshake_round_trips_difference"] == -2
    told = next(one for one in findings.plt.comparisons if "origin_frame" in one.comparison.treatment.id)
    assert shared["paired_difference_ms"] == told.difference_ms.value
    (drawing,) = section.drawings
    rows = [one for one in drawing.rows if one["treatment"] == shared["treatment"]]
    assert {one["page"] for one in rows} == {*PAGES}
    assert {one["shared_requests_count"] for one in rows} == {3}
    assert {one["baseline_shared_requests_count"] for one in rows} == {0}
    loads = {(one.page, one.condition): one.times_ms["plt"] for one in findings.loads}
    for one in rows:
        own, other = (loads[one["page"], one[of]] for of in ("treatment", "baseline"))
        assert own is not None
        assert other is not None
        assert one["difference_ms"] == pytest.approx(own - other)
        assert one["difference_rtts"] == pytest.approx((own - other) / 91.852311)


def test_a_page_of_which_one_load_told_nothing_is_no_pair(tmp_path: Path) -> None:
    section = connection_content(found(tmp_path / "d", make_plan(GATEWAY), without="flat-4"))
    table = next(one for one in section.tables if one.name == "connections_over_pages")
    assert {one["pages_count"] for one in table.rows} == {4}
    # The time is over all pages: it does not need the connections.
    assert {one["pairs_count"] for one in table.rows} == {5}


def test_only_rounds_that_both_conditions_have_of_a_page_are_compared(tmp_path: Path) -> None:
    """The first round of a page is the slow one: with it on one side alone sharing would look faster."""
    findings = found(tmp_path / "d", make_plan(GATEWAY.replace("[design]", "blocks = 10\n[design]", 1)))
    loads = [
        replace_times(one, 1_000.0 if one.round >= 5 else None if "origin_frame" in one.condition else 2_000.0)
        for one in findings.loads
    ]
    drawing = connection_content(replace(findings, loads=loads)).drawings[0]
    rows = [one for one in drawing.rows if "origin_frame" in str(one["treatment"])]
    assert [(one["plt_ms"], one["baseline_plt_ms"], one["difference_ms"]) for one in rows] == [(1_000, 1_000, 0)] * 5


def test_a_link_without_a_round_trip_has_no_change_in_round_trips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(synthetic_dataset.RTT_MS, "ideal", 0.0)
    monkeypatch.setitem(synthetic_dataset.RATE_BPS, "ideal", None)
    section = connection_content(found(tmp_path / "d", make_plan(GATEWAY.replace('"4g"', '"ideal"'))))
    table = next(one for one in section.tables if one.name == "connections_over_pages")
    column = table.table.columns.index("in round trips")
    assert {row[column] for row in table.table.rows} == {ABSENT}
    assert {one["difference_rtts"] for one in section.drawings[0].rows} == {None}


def replace_times(one: LoadRow, plt_ms: float | None) -> LoadRow:
    return msgspec.structs.replace(one, times_ms={**one.times_ms, "plt": plt_ms})


OF_BLOCKS = GATEWAY.replace('[design]\nunit = "page"', "blocks = 2").replace("[factors]", "\n[factors]", 1)


NATIVE = f"""{GATEWAY.partition("[resolver_path]")[0]}
[resolver_path]
doh3 = "native"
[baseline]
connection_sharing = "separate"
"""


def test_what_a_browser_shares_by_itself_is_told_as_well(tmp_path: Path) -> None:
    section = connection_content(found(tmp_path / "d", make_plan(NATIVE)))
    assert [one.name for one in section.tables] == ["load_connections", "connections_over_pages"]
    (drawing,) = section.drawings
    assert {one["shared_requests_count"] for one in drawing.rows} == {3}


@pytest.mark.parametrize("text", [OF_BLOCKS, PLAN_TEXT])
def test_there_is_nothing_by_page_where_pages_are_given_or_nothing_is_shared(tmp_path: Path, text: str) -> None:
    section = connection_content(found(tmp_path / "d", make_plan(text)))
    assert section.drawings == []
    assert "connections_over_pages" not in [one.name for one in section.tables]


def test_the_report_has_the_figure_and_the_page_by_page_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, plan = tmp_path / "d", make_plan(GATEWAY)
    findings = found(folder, plan)
    monkeypatch.setattr("resolab.report.sections.reading.analyse", lambda _: findings)
    report = make_report(folder).page
    assert 'id="connections_by_page"' in report.read_text("utf-8")
    with (report.parent / "figures" / "connections_by_page.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2 * len(PAGES)
