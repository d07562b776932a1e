"""Reports of several vantage points: each by itself, across them, and between them, against what was made up."""

import csv
from pathlib import Path

import pytest
from live_dataset import RTT_MS, SITES_COUNT, Truth, make_live_dataset
from synthetic_dataset import make_dataset, make_plan

from resolab.basics.records import DnsTransport
from resolab.report.build import make_report
from resolab.report.findings.analysis import analyse
from resolab.report.findings.vantage_comparison import compare_across_places
from resolab.report.live.study import LiveStudy
from resolab.report.parts.across_places import build_across_table
from resolab.stats import Method
from resolab.store import build_tables, merge_datasets, open_dataset
from resolab.studies.h20.live.places import (
    _find_published,
    _format_published_load,
    difference_table,
    place_differences,
)
from resolab.studies.printed_places import PrintedDifference

FARTHER_MS = {"frankfurt": 0.0, "seoul": 25.0, "ohio": 10.0, "california": 2.0, "sydney": 4.0}


@pytest.fixture(autouse=True, scope="module")
def without_drawing():
    """Figures of these datasets are drawn elsewhere."""

    def save(drawings, folder: Path) -> list[str]:
        folder.mkdir()
        return ["<svg></svg>" for _ in drawings]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolab.report.build.save_drawings", save)
        yield


@pytest.fixture(scope="module")
def five(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("five")
    parts = [
        make_live_dataset(folder / place, Truth(place=place, farther_ms=farther_ms))
        for place, farther_ms in FARTHER_MS.items()
    ]
    merge_datasets(folder / "d", parts)
    build_tables(folder / "d")
    return folder / "d"


def test_across_five_places_the_median_of_theirs_and_their_range(five):
    with open_dataset(five) as dataset:
        findings = analyse(dataset)
    (one,) = [
        found for found in findings.across_places
        if (found.treatment.resolver, found.treatment.dns_transport) == ("quick", DnsTransport.DOT)
    ]  # fmt: skip
    assert list(one.places) == list(FARTHER_MS)
    # DoT to a resolver takes three round trips, Do53 of the near one a single one: places differ by two of theirs.
    for place, farther_ms in FARTHER_MS.items():
        assert one.places[place].n == SITES_COUNT
        assert one.places[place].value == pytest.approx(
            3 * (RTT_MS["quick"] + farther_ms) - RTT_MS["local"] - farther_ms, abs=3
        )
    values = [estimate.value for estimate in one.places.values()]
    assert one.across.value == one.places["sydney"].value
    assert (one.across.ci_low, one.across.ci_high) == (min(values), max(values))
    assert (one.across.n, one.across.level, one.across.method) == (5, 0.9375, Method.RANGE)
    table = build_across_table(findings)
    assert table is not None
    assert "profile" not in table.table.columns
    row = next(row for row in table.table.rows if "quick" in row[1] and "DoT" in row[1])
    assert row[-1] == "5, 0"


def test_look_ups_between_places_are_their_round_trips(five):
    with open_dataset(five) as dataset:
        study = LiveStudy(dataset, analyse(dataset))
        found = {(one.place, one.resolver, one.dns_transport, one.connection): one for one in place_differences(study)}
        table = difference_table(study)
    assert {one.reference for one in found.values()} == {"frankfurt"}
    for place, farther_ms in FARTHER_MS.items():
        if place != "frankfurt":
            cold, warm = found[place, "far", "doh", "cold"], found[place, "far", "doh", "warm"]
            assert cold.difference_ms.value == pytest.approx(3 * farther_ms, abs=1.5)
            assert warm.difference_ms.value == pytest.approx(farther_ms, abs=1.5)
            assert warm.difference_ms.ci_low < farther_ms < warm.difference_ms.ci_high
    assert len(table.rows) == len(found) == 4 * len({key[1:] for key in found})


def test_the_page_and_its_files_have_them(five):
    html = make_report(five).page.read_text()
    for title in ("Across vantage points", "Look-ups between vantage points", "93.75 %", "less frankfurt, ms"):
        assert title in html
    with (five / "report" / "figures" / "across_places.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["vantage_point"] for row in rows[:6]] == [*FARTHER_MS, "across"]
    with (five / "report" / "figures" / "live_places_loads.csv").open() as file:
        loads = list(csv.DictReader(file))
    # Three resolvers over DoT and DoH each, at five places and across.
    assert len(loads) == 3 * 2 * 6


def test_of_a_single_place_there_is_nothing_between(tmp_path):
    folder = make_live_dataset(tmp_path / "d", Truth(place="frankfurt"))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
        assert findings.across_places == []
        assert build_across_table(findings) is None
        assert difference_table(LiveStudy(dataset, findings)).rows == []


def test_their_numbers_stand_beside_resolvers_and_places_of_their_names():
    assert _find_published(("google", "doh", "cold"), "seoul", "frankfurt") == PrintedDifference(119.3, 29.59)
    # Cloudflare had come to Seoul since 2020: without their pings their times would seem to contradict the box.
    assert _find_published(("cloudflare", "doh", "cold"), "seoul", "frankfurt") == PrintedDifference(3.49, 1.06)
    assert _find_published(("google", "doh", "warm"), "seoul", "frankfurt") is None
    assert _find_published(("google", "doh", "cold"), "sydney", "frankfurt") is None
    assert _find_published(("quick", "doh", "cold"), "seoul", "frankfurt") is None
    assert (_format_published_load("cloudflare", "DoT"), _format_published_load("cloudflare", "DoH")) == ("+1", "+79")
    assert (_format_published_load("quad9", "DoH"), _format_published_load("cloudflare", "DoQ")) == ("", "")


def test_in_the_lab_a_place_is_told_by_trials_and_conditions_stay_one(tmp_path):
    folder = make_dataset(tmp_path / "d", make_plan())
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
        assert dataset.vantage_point_of_trials() == {load.trial_id: "lab" for load in findings.loads}
    assert findings.across_places == []
    # As if blocks had been run in turn at two places.
    place_of = {load.trial_id: ("fra", "syd")[load.block % 2] for load in findings.loads}
    found = compare_across_places(findings.plan, findings.loads, findings.plt, place_of)
    assert len(found) == len(findings.plt.comparisons)
    for one, whole in zip(found, findings.plt.comparisons, strict=True):
        assert sum(estimate.n for estimate in one.places.values()) == whole.difference_ms.n
        assert (one.across.n, one.across.ci_low) == (2, None)
