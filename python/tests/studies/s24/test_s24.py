"""Figures and tables of Sengupta et al.: the numbers drawn against numbers worked out by hand."""

import csv
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from h20_dataset import Arm, make_h20_dataset
from synthetic_dataset import (
    CONNECT_MS,
    EARLY_REQUEST_MS,
    PLAN_TEXT,
    QUIC_MS,
    RTT_MS,
    SUM_EXTRA_MS,
    TCP_MS,
    Faults,
    make_dataset,
    make_plan,
)

from resolab.report import build_report
from resolab.report.findings.analysis import analyse
from resolab.report.plots import Drawing, save_drawing
from resolab.stats import Estimate, Method
from resolab.store import build_tables, open_dataset
from resolab.store.outcomes import PLT
from resolab.studies.s24.changes import compare_signs
from resolab.studies.s24.figures import find_drawings, find_tables, list_missing
from resolab.studies.s24.paper_numbers import TABLE_2, plt_change_percent
from resolab.studies.s24.paper_quantiles import relative_quantiles
from resolab.studies.s24.study import S24Study

if TYPE_CHECKING:
    from resolab.store.rows import LoadRow
    from resolab.studies.s24.profiles import NamedTable

# One page in the cells of the made-up plan is enough; four blocks keep the bootstrap short.
TEXT = PLAN_TEXT.replace("blocks = 6", "blocks = 4").replace('["example", "wikipedia"]', '["wikipedia"]')
Rows = list[Mapping[str, object]]


class Made:
    def __init__(self, folder: Path, faults: Faults) -> None:
        self.plan = make_plan(TEXT)
        make_dataset(folder, self.plan, faults)
        build_tables(folder)
        with open_dataset(folder) as dataset:
            self.loads: list[LoadRow] = dataset.measured_loads()
            study = S24Study(dataset, analyse(dataset))
            self.drawings: dict[str, Drawing] = {one.name: one for one in find_drawings(study)}
            self.tables: dict[str, NamedTable] = {one.name: one for one in find_tables(study)}

    def rows(self, name: str, **having: str) -> Rows:
        return [
            row for row in self.drawings[name].rows if all(row[column] == value for column, value in having.items())
        ]

    def plts(self, profile: str, transport: str, mode: str) -> list[float | None]:
        wanted = (profile, transport, mode)
        return [
            PLT.value_of_load(load)
            for load in self.loads
            if (load.profile, load.dns_transport, load.requested_handshake_mode) == wanted
        ]

    def median(self, profile: str, transport: str, mode: str) -> float:
        return statistics.median(plt for plt in self.plts(profile, transport, mode) if plt is not None)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("s24") / "dataset", Faults(sums=True))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("s24-faulty") / "dataset", Faults(timeouts=True))


def values(rows: Rows, column: str) -> list[float]:
    return [float(str(row[column])) for row in rows]


def test_connects_are_in_round_trips_of_their_profile(made: Made) -> None:
    fiber, mobile = RTT_MS["fiber"], RTT_MS["4g"]
    for panel, expected in (("fiber", 1 + CONNECT_MS / fiber), ("4g", 1 + CONNECT_MS / mobile)):
        for curve in ("H3 full, connect", "H3 0-RTT, connect"):
            found = values(made.rows("s24_fig4", panel=panel, curve=curve), "duration_round_trips")
            assert found == pytest.approx([expected] * 12)
    early = values(made.rows("s24_fig4", panel="4g", curve="H3 0-RTT, until the request"), "duration_round_trips")
    assert early == pytest.approx([EARLY_REQUEST_MS / mobile] * 12)
    pooled = values(made.rows("s24_fig3", curve="H3 full, connect"), "duration_round_trips")
    assert pooled == pytest.approx([1 + CONNECT_MS / mobile] * 12 + [1 + CONNECT_MS / fiber] * 12)
    assert "in early data in 24 of 24 loads" in made.drawings["s24_fig3"].caption


def test_phases_of_the_exchange_are_in_round_trips(made: Made) -> None:
    fiber, mobile = RTT_MS["fiber"], RTT_MS["4g"]
    handshakes = made.rows("s24_fig7", panel="all profiles", curve="DoQ handshake")
    # Alike within a profile: one step each, half of the 48 exchanges in each.
    assert values(handshakes, "duration_round_trips") == pytest.approx(
        [1 + QUIC_MS / mobile, 1 + QUIC_MS / fiber], abs=1e-4
    )
    assert values(handshakes, "cumulative_share_ratio") == [0.5, 1.0]
    tcp = made.rows("s24_fig7", panel="all profiles", curve="TCP RTT")
    assert values(tcp, "duration_round_trips") == pytest.approx([1 + TCP_MS / mobile, 1 + TCP_MS / fiber], abs=1e-4)
    assert {row["n_count"] for row in tcp} == {48}
    lookups = made.rows("s24_fig6", panel="4g", curve="DoH")
    assert {row["n_count"] for row in lookups} == {24}
    assert lookups[-1]["cumulative_share_ratio"] == 1
    assert all(3 < trips < 3 + 1.3 / mobile for trips in values(lookups, "duration_round_trips"))
    legend = made.drawings["s24_fig7"].figure.axes[0].get_legend()
    assert legend is not None
    # What the exchange takes beyond two round trips, 0.7 ms and a little, is less than QUIC_MS.
    assert legend.get_texts()[2].get_text().startswith("DoQ query: 0.99 [")


def test_the_heat_map_has_the_changes_of_the_medians_and_the_papers_beside(made: Made) -> None:
    for profile, theirs in (("fiber", 0.062), ("4g", 0.222)):
        (row,) = made.rows("s24_fig8", profile=profile, combination="DoH + H3 full")
        expected = made.median(profile, "doh", "full") / made.median(profile, "doudp", "full") - 1
        assert row["relative_change_ratio"] == pytest.approx(expected)
        assert row["reference_change_ratio"] == pytest.approx(theirs)
        (as_sum,) = made.rows("s24_fig8_plt_sum", profile=profile, combination="DoH + H3 full")
        base = made.median(profile, "doudp", "full") + SUM_EXTRA_MS
        assert as_sum["relative_change_ratio"] == pytest.approx(
            (made.median(profile, "doh", "full") + SUM_EXTRA_MS) / base - 1
        )
    combinations = list(dict.fromkeys(row["combination"] for row in made.drawings["s24_fig8"].rows))
    assert combinations[:3] == ["DoQ + H3 0-RTT", "DoQ + H3 full", "DoH + H3 full"]
    assert combinations[3:] == ["DoUDP + H3 0-RTT", "DoH + H3 0-RTT"]
    texts = [text.get_text() for axes in made.drawings["s24_fig8"].figure.axes for text in axes.texts]
    assert "paper +22.2 %" in texts


def test_every_load_is_related_to_the_baselines_median(made: Made) -> None:
    rows = made.rows("s24_fig9", profile="4g", combination="DoQ + H3 0-RTT", study="ours")
    base = made.median("4g", "doudp", "full")
    expected = sorted(plt / base - 1 for plt in made.plts("4g", "doq", "zero_rtt") if plt is not None)
    assert values(rows, "relative_change_ratio") == pytest.approx(expected)
    assert values(rows, "cumulative_share_ratio") == [0.25, 0.5, 0.75, 1.0]


def test_page_load_times_and_their_medians_beside_those_printed(made: Made) -> None:
    rows = made.rows("s24_fig10", profile="fiber", combination="DoUDP + H3 full")
    assert values(rows, "plt_ms") == pytest.approx(sorted(p for p in made.plts("fiber", "doudp", "full") if p))
    sums = made.rows("s24_fig10_plt_sum", profile="fiber", combination="DoUDP + H3 full")
    assert values(sums, "plt_sum_ms") == pytest.approx([value + SUM_EXTRA_MS for value in values(rows, "plt_ms")])
    legend = made.drawings["s24_fig10"].figure.axes[0].get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text().endswith("n = 4 (paper 630.4)")


def test_fig_12_has_one_point_for_each_page_and_profile(made: Made) -> None:
    changes = sorted(values(made.rows("s24_fig8", combination="DoQ + H3 full"), "relative_change_ratio"))
    rows = made.rows("s24_fig12", combination="DoQ + H3 full", study="ours")
    assert values(rows, "relative_change_ratio") == pytest.approx(changes)
    assert values(rows, "cumulative_share_ratio") == [0.5, 1.0]
    theirs = made.rows("s24_fig12", combination="DoQ + H3 full", study="paper")
    assert values(theirs, "relative_change_ratio") == pytest.approx([0.04, 0.118])


def test_the_papers_quantiles_lie_over_ours(made: Made) -> None:
    theirs = made.rows("s24_fig9", profile="4g", combination="DoQ + H3 0-RTT", study="paper")
    assert values(theirs, "relative_change_ratio") == pytest.approx([0.056, 0.082, 0.100, 0.113, 0.122])
    assert values(theirs, "cumulative_share_ratio") == [0.1, 0.25, 0.5, 0.75, 0.9]
    times = made.rows("s24_fig10", profile="4g", combination="DoQ + H3 0-RTT", study="paper")
    assert values(times, "plt_ms") == pytest.approx(
        [876.9 * (1 + ratio) for ratio in (0.056, 0.082, 0.1, 0.113, 0.122)]
    )
    assert not made.rows("s24_fig9", combination="DoH + H3 0-RTT", study="paper")  # not in the paper
    crosses = [
        line for axes in made.drawings["s24_fig9"].figure.axes for line in axes.lines if line.get_marker() == "x"
    ]
    assert len(crosses) == 6
    ends = [(axes.get_xlim(), axes.lines) for axes in made.drawings["s24_fig9"].figure.axes]
    assert all(low <= min(line.get_xdata()[0] for line in lines) for (low, _), lines in ends)


def test_printed_quantiles_have_the_printed_medians() -> None:
    for profile, page in ((one, page) for one in TABLE_2 for page in ("example", "wikipedia", "instagram")):
        for combination in (("doq", "zero_rtt"), ("doq", "full"), ("doh", "full")):
            quantiles = relative_quantiles(page, profile, *combination)
            assert [ratio for ratio, _ in quantiles] == sorted(ratio for ratio, _ in quantiles)
            middle = {share: ratio for ratio, share in quantiles}[0.5]
            assert middle * 100 == pytest.approx(
                plt_change_percent(profile, page, *combination), abs=0.11
            )  # read from a figure


def test_other_pages_and_profiles_are_none_of_the_papers(tmp_path: Path) -> None:
    text = build_report(make_h20_dataset(tmp_path / "dataset", {Arm("office", "doudp"): [100.0]})).read_text()
    assert "figure by figure" not in text
    assert "Sengupta" not in text


def test_the_comparison_states_what_the_closed_form_explains(made: Made) -> None:
    table = made.tables["s24_changes"]
    found = {(row["profile"], row["combination"]): row for row in table.rows}
    assert len(found) == 6
    doh = found["4g", "DoH + H3 full"]
    base = made.median("4g", "doudp", "full")
    change = made.median("4g", "doh", "full") / base - 1
    assert doh["closed_form_ms"] == pytest.approx(2 * RTT_MS["4g"])
    assert doh["closed_form_ratio"] == pytest.approx(2 * RTT_MS["4g"] / base)
    # Theirs: 22.2 % of 876.9 ms are 194.7 ms, 11.0 more than two round trips.
    assert doh["paper_beyond_closed_form_ms"] == pytest.approx(10.97, abs=0.01)
    assert doh["plt_beyond_closed_form_ms"] == pytest.approx(change * base - 2 * RTT_MS["4g"])
    assert doh["plt_sign"] == "undecided"  # Four blocks have no interval of a change.
    # A saved round trip pays for DoQ's: nothing is left, while theirs is 10.1 % of 876.9 ms.
    coalesced = found["4g", "DoQ + H3 0-RTT"]
    assert coalesced["closed_form_ms"] == 0
    assert coalesced["paper_beyond_closed_form_ms"] == pytest.approx(88.57, abs=0.01)


def test_both_readings_of_the_headline_are_kept_apart(made: Made) -> None:
    (row,) = (row for row in made.tables["s24_overhead"].rows if row["profile"] == "4g")
    own, doh, base = (made.median("4g", *one) for one in (("doq", "zero_rtt"), ("doh", "full"), ("doudp", "full")))
    assert row["remaining_share_ratio"] == pytest.approx((own - base) / (doh - base))
    assert row["change_against_doh_ratio"] == pytest.approx(own / doh - 1)
    assert row["paper_remaining_share_ratio"] == pytest.approx(10.1 / 22.2)
    assert row["paper_change_against_doh_ratio"] == pytest.approx(1.101 / 1.222 - 1)
    assert row["blocks_count"] == 4


@pytest.mark.parametrize(
    ("low", "value", "high", "theirs", "word"),
    [
        (0.1, 0.2, 0.3, 0.1, "same"),
        (0.1, 0.2, 0.3, -0.1, "opposite"),
        (-0.3, -0.2, -0.1, -0.1, "same"),
        (-0.1, 0.1, 0.3, 0.1, "undecided"),
    ],
)
def test_a_sign_needs_an_interval_without_zero(low: float, value: float, high: float, theirs: float, word: str) -> None:
    assert compare_signs(Estimate(value, value, low, high, 9, 0, 0.95, Method.PERCENTILE), theirs) == word


def test_table_2_sets_the_applied_beside_the_printed(made: Made) -> None:
    rows = {row["profile"]: row for row in made.tables["s24_table2"].rows}
    assert rows["fiber"]["paper_rtt_ms"] == 14.8
    assert rows["fiber"]["rtt_ms"] == pytest.approx(14.767147)
    assert rows["4g"]["paper_down_bps"] == pytest.approx(54.0e6)
    assert made.tables["s24_table2"].table.rows[0][3] == "no calibration"


def test_what_failed_keeps_its_curve_below_one(faulty: Made) -> None:
    failed = sum(plt is None for plt in faulty.plts("fiber", "doq", "full"))
    rows = faulty.rows("s24_fig10", profile="fiber", combination="DoQ + H3 full", study="ours")
    assert failed
    assert rows[-1]["cumulative_share_ratio"] == (4 - failed) / 4
    assert {row["failed_count"] for row in rows} == {failed}
    total = sum(PLT.value_of_load(load) is None for load in faulty.loads)
    assert f"{total} of 48 loads failed" in faulty.drawings["s24_fig9"].caption
    lost = {row["failed_count"] for row in faulty.rows("s24_fig5", curve="DoH")}
    assert lost != {0}


def test_what_a_dataset_lacks_is_said_and_not_drawn(faulty: Made) -> None:
    missing = list_missing(faulty.drawings)
    assert [line.partition(":")[0] for line in missing] == ["s24_fig11"]
    assert "instagram" in missing[0]
    assert not any(name.endswith("_plt_sum") for name in (*faulty.drawings, *faulty.tables))


def test_the_csv_holds_what_is_drawn(made: Made, tmp_path: Path) -> None:
    save_drawing(made.drawings["s24_fig12"], tmp_path)
    with (tmp_path / "s24_fig12.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [float(row["relative_change_ratio"]) for row in written] == pytest.approx(
        values(list(made.drawings["s24_fig12"].rows), "relative_change_ratio")
    )
    assert "Dataset made-up-20240712T101500Z-7" in made.drawings["s24_fig12"].caption


def test_the_report_has_them_in_a_section_with_their_files(tmp_path: Path) -> None:
    plan = make_plan(TEXT.replace("blocks = 4", "blocks = 2").replace('["fiber", "4g"]', '["dsl"]'))
    folder = make_dataset(tmp_path / "dataset", plan)
    page = build_report(folder)
    section = page.read_text().partition('<section id="s24">')[2].partition("</section>")[0]
    files = {file.name for file in (folder / "report" / "figures").iterdir()}
    for name in ("s24_fig3", "s24_fig8", "s24_fig12"):
        assert f'<figure id="{name}">' in section
        assert {f"{name}.svg", f"{name}.pdf", f"{name}.csv"} <= files
    assert {"s24_changes.csv", "s24_table2.csv", "s24_overhead.csv"} <= files
    assert "s24_fig4: needs page loads over HTTP/3 on fiber or 4g." in section
