import math
from pathlib import Path

import pytest
from h20_dataset import Arm, Query, make_h20_dataset

from resolab.report.build import build_report
from resolab.report.findings.analysis import analyse
from resolab.report.parts.named_table import NamedTable
from resolab.report.plots import Drawing
from resolab.stats import Sample, quantile
from resolab.store import open_dataset
from resolab.studies.h20.amortisation import amortisations
from resolab.studies.h20.figures import find_drawings, find_tables, list_missing
from resolab.studies.h20.networks import median_quantile, names_for_half, same_sign
from resolab.studies.h20.paper_numbers import vantage_points
from resolab.studies.h20.study import H20Study

# Eight blocks: DoT is 20 to 90 ms behind Do53, but for a lost load on either side.
DO53_MS = [100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, "page_timeout"]
DOT_MS = [120.0, 130.0, 140.0, 150.0, 160.0, 170.0, "page_timeout", 190.0]
DOH_MS = [100.0, 110.0, 90.0, 105.0, 95.0, 100.0, 100.0, 100.0]


def everything(folder: Path) -> tuple[dict[str, Drawing], dict[str, NamedTable], list[str]]:
    with open_dataset(folder) as dataset:
        study = H20Study(dataset, analyse(dataset))
        paid = amortisations(study)
        drawings = {drawing.name: drawing for drawing in find_drawings(study, paid)}
        tables = {table.name: table for table in find_tables(study, paid)}
        return drawings, tables, list_missing(study, paid)


def loads_of(profile: str, extra_rtt_ms: float = 0.0) -> dict[Arm, list[float | str | None]]:
    times = {"doudp": DO53_MS, "dot": DOT_MS, "doh": DOH_MS}
    return {Arm(profile, transport, extra_rtt_ms): list(found) for transport, found in times.items()}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Drawing], dict[str, NamedTable], list[str]]:
    """Office and lossy 4G, a near and a far resolver, queries on the office network only."""
    loads = (
        loads_of("default-h20")
        | loads_of("lossy-4g-h20")
        | loads_of("default-h20", 25.0)
        | loads_of("lossy-4g-h20", 25.0)
    )
    queries = {
        Arm("default-h20", "doudp"): [[Query(10.5, 10.4)]] * 6 + [[Query(None)], [Query(5_010.5, 5_010.4, attempts=2)]],
        Arm("default-h20", "dot"): [[Query(30.5, 10.4, "cold")]] * 8,
        Arm("lossy-4g-h20", "doudp"): [[Query(54.0, 53.9)]] * 8,
        Arm("lossy-4g-h20", "dot"): [[Query(160.0, 53.0, "cold")]] * 8,
    }
    return everything(make_h20_dataset(tmp_path_factory.mktemp("h20") / "d", loads, queries, names_count=12))


def test_every_figure_is_there(study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]]) -> None:
    drawings, tables, missing = study
    assert list(drawings) == ["h20_fig1", "h20_fig3", "h20_fig2", "h20_fig4", "h20_fig5", "amortisation"]
    assert list(tables) == ["h20_networks", "h20_table1", "h20_amortisation", "h20_fastest"]
    assert missing == []
    for name, drawing in drawings.items():
        assert "Dataset made-up-20240712T101500Z-7." in drawing.caption
        figure = "ANRW 2019" if name == "amortisation" else f"Fig. {name[-1]}"
        assert figure in drawing.caption


def test_response_times_end_below_one_by_what_failed(
    study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]],
) -> None:
    rows = [row for row in study[0]["h20_fig1"].rows if row["dns_transport"] == "doudp"]
    assert {(row["n_count"], row["failed_count"]) for row in rows} == {(8, 1)}
    # 6 of 8 took 10.5 ms, one 5,010.5 ms, one never ended: 7 / 8 is the highest share that a time has.
    assert [row["query_response_time_ms"] for row in rows if row["cumulative_share_ratio"] <= 0.74][-1] == 10.5
    assert rows[-1]["query_response_time_ms"] == 5_010.5
    assert 0.86 < float(rows[-1]["cumulative_share_ratio"]) <= 0.875
    assert rows[0]["median_ms"] == 10.5
    assert "32 queries" not in study[0]["h20_fig1"].caption
    assert "16 queries, 1 failed" in study[0]["h20_fig1"].caption
    assert {row["profile"] for row in study[0]["h20_fig3"].rows} == {"default-h20", "lossy-4g-h20"}


def test_the_matrix_keeps_failed_loads_as_bounds_and_shows_what_dropping_them_does(
    study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]],
) -> None:
    rows = [
        row
        for row in study[0]["h20_fig2"].rows
        if (row["row_dns_transport"], row["column_dns_transport"]) == ("dot", "doudp")
        and row["row_resolver_extra_rtt_ms"] == row["column_resolver_extra_rtt_ms"] == 0
    ]
    first = rows[0]
    assert {row["profile"] for row in rows} == {"default-h20"}
    assert (first["pairs_count"], first["censored_count"], first["survivor_pairs_count"]) == (8, 2, 6)
    # Differences: 20 ... 70 known, one of at least 29,900, one of at most 190 - 30,000.
    assert first["survivor_median_ms"] == 45
    assert first["median_ms"] == 45  # (40 + 50) / 2: a bound on each side leaves the middle where it was
    shares = {
        row["difference_ms"]: (row["least_share_ratio"], row["most_share_ratio"], row["survivor_share_ratio"])
        for row in rows
    }
    assert shares[20.0] == (2 / 8, 2 / 8, 1 / 6)
    assert shares[-29_810.0] == (1 / 8, 1 / 8, 0)
    assert shares[29_900.0] == (7 / 8, 1, 1)
    assert first["band"] == "slower"
    near = [
        row
        for row in study[0]["h20_fig2"].rows
        if (row["row_dns_transport"], row["column_dns_transport"]) == ("doudp", "dot")
    ]
    assert near[0]["band"] == "faster"


def test_networks_have_one_figure_for_each_distance(
    study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]],
) -> None:
    for name, extra_rtt_ms in (("h20_fig4", 0.0), ("h20_fig5", 25.0)):
        rows = study[0][name].rows
        assert {(row["profile"], row["treatment_dns_transport"]) for row in rows} == {
            (profile, transport) for profile in ("default-h20", "lossy-4g-h20") for transport in ("dot", "doh")
        }
        assert {row["treatment_resolver_extra_rtt_ms"] for row in rows} == {extra_rtt_ms}
        # Two more round trips of the access link and the way beyond it.
        expected = {"default-h20": 2 * (10 + extra_rtt_ms), "lossy-4g-h20": 2 * (53.3 + extra_rtt_ms)}
        assert {row["profile"]: pytest.approx(row["closed_form_ms"]) for row in rows} == expected


def test_medians_stand_beside_the_papers(study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]]) -> None:
    rows = {(row["vantage_point"], row["network"], row["dns_transport"]): row for row in study[1]["h20_networks"].rows}
    lossy = rows["Frankfurt", "lossy 4G", "dot"]
    assert (lossy["paper_median_ms"], lossy["median_ms"]) == (-101, 45)
    # 1.5 % in each direction, and twelve names a page.
    assert lossy["lookup_loss_ratio"] == pytest.approx(1 - 0.985**2)
    assert lossy["loads_with_loss_ratio"] == pytest.approx(1 - 0.985**24)
    assert lossy["names_for_half_count"] == 23
    assert "Do53 waits 5 s in 30% of loads with 12 names" in str(lossy["why"])
    assert "a cold query takes +106 ms on average" in str(lossy["why"])
    assert rows["Seoul", "lossy 4G", "doh"]["paper_median_ms"] == 12
    assert rows["Seoul", "default", "doh"]["paper_median_ms"] == 79
    assert rows["Frankfurt", "default", "dot"]["paper_median_ms"] is None
    assert rows["Frankfurt", "default", "dot"]["names_for_half_count"] is None


def test_the_networks_table_is_no_wider_than_a_page(
    study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]],
) -> None:
    networks = study[1]["h20_networks"]
    (_, losses), (_, reasons) = networks.further
    # Some 1,150 pixels hold 180 letters of this size; titles wrap, cells do not, and the reasons do.
    widths = [max(map(len, cells)) for cells in zip(*networks.table.rows, strict=True)]
    assert sum(widths) + 2 * len(widths) < 150
    assert len(networks.table.rows) == len(networks.rows) == len(reasons.rows)
    assert [row[0] for row in losses.rows] == ["default (default-h20)", "lossy 4G (lossy-4g-h20)"]
    assert losses.rows[1][1:] == ("3.0%", "12", "30.4%", "0.28", "23")
    assert losses.rows[0][4:] == ("0.50", "no loss")
    assert "Do53 waits 5 s in 30% of loads with 12 names" in reasons.rows[-1][3]


def test_table_1_counts_statuses_with_intervals(
    study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]],
) -> None:
    rows = {
        (row["resolver_extra_rtt_ms"], row["profile"], row["dns_transport"], row["status"]): row
        for row in study[1]["h20_table1"].rows
    }
    timeouts = rows[0.0, "lossy-4g-h20", "dot", "Page-load Timeout"]
    assert (timeouts["loads_count"], timeouts["total_count"]) == (1, 8)
    assert (timeouts["ci_low_ratio"], timeouts["ci_high_ratio"]) == (
        pytest.approx(0.02242, abs=1e-4),
        pytest.approx(0.4709, abs=1e-4),
    )
    assert timeouts["paper_ratio"] == pytest.approx(0.0816)
    assert rows[0.0, "default-h20", "doh", "Successful"]["paper_ratio"] == pytest.approx(0.7885)
    assert rows[25.0, "default-h20", "doh", "Successful"]["paper_ratio"] is None  # their table is Frankfurt's
    assert sum(int(row["loads_count"] or 0) for row in rows.values()) == 8 * 12


def test_amortisation_counts_do53s_retries_in_the_mean_and_not_at_the_median(
    study: tuple[dict[str, Drawing], dict[str, NamedTable], list[str]],
) -> None:
    rows = {row["profile"]: row for row in study[1]["h20_amortisation"].rows}
    office, lossy = rows["default-h20"], rows["lossy-4g-h20"]
    # The query that failed never left: of Do53's exchanges six took 10.4 ms and one 5,010.4 ms.
    assert office["do53_mean_ms"] == pytest.approx((6 * 10.4 + 5_010.4) / 7)
    assert (office["cold_mean_ms"], office["warm_mean_ms"]) == (pytest.approx(30.5), pytest.approx(10.4))
    assert (office["do53_retried_ratio"], office["failed_count"]) == (1 / 8, 1)
    assert office["warm_queries"] == "exchanges of cold queries"
    assert office["needed_a_query_ms"] == pytest.approx((30.5 - 10.4) / 23)
    assert office["medians_break_even_count"] == math.inf
    # 160 + 52 (k - 1) at 53 and 53.9: (160 - 53) / 0.9 = 118.9.
    drawn = {row["profile"]: row for row in study[0]["amortisation"].rows if row["query_count"] == 23}
    assert drawn["lossy-4g-h20"]["break_even_count"] == 119
    assert drawn["lossy-4g-h20"]["cumulated_extra_ms"] == pytest.approx(160 + 22 * 53 - 23 * 53.9)
    assert drawn["default-h20"]["break_even_count"] == 1
    assert lossy["medians_break_even_count"] == pytest.approx(119, abs=2)


def test_warm_queries_are_taken_where_they_were_measured(tmp_path: Path) -> None:
    queries = {
        Arm("default-h20", "doudp"): [[Query(11.0, 10.0)]] * 20,
        Arm("default-h20", "dot"): [[Query(30.0, 10.0, "cold"), Query(10.0, 9.0, "warm")]] * 20,
    }
    loads = {arm: [100.0] * 20 for arm in queries}
    drawings, tables, missing = everything(make_h20_dataset(tmp_path / "d", loads, queries))
    (row,) = tables["h20_amortisation"].rows
    assert (row["warm_queries"], row["warm_mean_ms"], row["do53_mean_ms"]) == ("measured", 10.0, 11.0)
    assert row["medians_break_even_count"] == 20  # of response times, not of one's and the other's exchanges
    crossing = drawings["amortisation"].rows[0]
    assert (crossing["break_even_count"], crossing["break_even_ci_low_count"]) == (20, 20)  # (30 - 10) / (11 - 10)
    warm = [row for row in drawings["h20_fig1"].rows if row["connection"] == "warm"]
    assert {row["query_response_time_ms"] for row in warm} == {10.0}
    assert [line.partition(":")[0] for line in missing] == ["h20_fig3", "h20_fig5"]


def test_a_dataset_with_loads_of_one_transport_lacks_most(tmp_path: Path) -> None:
    folder = make_h20_dataset(tmp_path / "d", {Arm("4g-h20", "doudp"): [100.0, None]})
    drawings, tables, missing = everything(folder)
    assert drawings == {}
    assert list(tables) == ["h20_table1"]
    names = [line.partition(":")[0] for line in missing]
    assert names == ["h20_fig1", "h20_fig3", "h20_fig2", "h20_fig4", "h20_fig5", "amortisation"]
    selenium = next(row for row in tables["h20_table1"].rows if row["status"] == "Selenium Error")
    assert (selenium["loads_count"], selenium["total_count"]) == (1, 2)  # a trial without a load is theirs, too


def test_the_report_has_a_section_with_files_and_what_is_missing(tmp_path: Path) -> None:
    page = build_report(make_h20_dataset(tmp_path / "d", loads_of("default-h20")))
    text = page.read_text()
    section = text[text.index('<section id="h20">') :]
    assert "<summary>Hounsel et al. (2020), figure by figure</summary>" in text
    assert "h20_fig5: no page loads of Do53 and another transport in one block to a resolver about 26.65 ms" in section
    files = {file.name for file in (page.parent / "figures").iterdir()}
    assert {"h20_fig2.svg", "h20_fig2.pdf", "h20_fig2.csv", "h20_table1.csv", "h20_networks.csv"} <= files


@pytest.mark.parametrize(
    ("ours", "sign"),
    [
        ([5.0] * 3 + [6.0] * 5, "yes"),
        ([-5.0] * 3 + [-6.0] * 5, "no"),
        ([-5.0] * 4 + [6.0] * 4, "not clear"),
        ([5.0], "not clear"),
    ],
)
def test_a_sign_needs_an_interval_without_zero(ours: list[float], sign: str) -> None:
    assert same_sign(58.0, quantile(Sample.exact(ours), 0.5)) == sign


def test_a_vantage_point_is_the_distance_nearest_to_its_ping() -> None:
    assert vantage_points([26.65]) == {"Seoul": 26.65}
    assert vantage_points([0.0, 5.0, 20.0, 30.0, 200.0]) == {"Frankfurt": 0.0, "Seoul": 30.0}


def test_a_preset_is_compared_with_do53_of_its_own_only_and_counted_apart(tmp_path: Path) -> None:
    loads: dict[Arm, list[float | str | None]] = {
        Arm("3g-h20", "doudp", preset="h20"): [100.0] * 8,
        Arm("3g-h20", "doh", preset="h20"): ["dns"] * 8,
        Arm("3g-h20", "doh"): [130.0] * 8,
        Arm("4g-h20", "doudp"): [110.0] * 8,
        Arm("4g-h20", "doh"): [130.0] * 8,
    }
    drawings, tables, _ = everything(make_h20_dataset(tmp_path / "d", loads))
    medians = {(row["profile"], row["treatment_further_levels"]): row["median_ms"] for row in drawings["h20_fig4"].rows}
    # On 3G there is no Do53 without the preset: nothing to compare with.
    assert medians == {("4g-h20", "preset none"): 20.0, ("3g-h20", "preset h20"): None}
    shares = {
        (str(row["further_levels"]).split(", ")[-1], row["status"]): row["share_ratio"]
        for row in tables["h20_table1"].rows
        if row["dns_transport"] == "doh"
    }
    assert (shares["preset h20", "DNS Error"], shares["preset none", "DNS Error"]) == (1, 0)


def test_browsers_are_never_pooled(tmp_path: Path) -> None:
    loads: dict[Arm, list[float | str | None]] = {
        Arm("4g-h20", "doudp"): [5_110.0] * 8,
        Arm("4g-h20", "doh"): [*[110.0] * 7, "dns"],
        Arm("4g-h20", "doudp", browser="chromium"): [110.0] * 8,
        Arm("4g-h20", "doh", browser="chromium"): [130.0] * 8,
    }
    drawings, tables, _ = everything(make_h20_dataset(tmp_path / "d", loads))
    medians = {row["treatment_further_levels"]: row["median_ms"] for row in drawings["h20_fig4"].rows}
    assert medians == {"Chromium": 20.0, "Firefox": -5_000.0}
    counts = {
        row["further_levels"]: (row["loads_count"], row["total_count"])
        for row in tables["h20_table1"].rows
        if (row["dns_transport"], row["status"]) == ("doh", "DNS Error")
    }
    assert counts == {"Chromium": (0, 8), "Firefox": (1, 8)}


def test_a_median_moves_before_half_of_the_loads_wait() -> None:
    waits, rest = [-5_000.0] * 30, [float(number) for number in range(70)]
    middle = quantile(Sample.exact(waits + rest), 0.5).value
    at = median_quantile(0.3)
    assert at == pytest.approx(0.2 / 0.7)
    assert middle == pytest.approx(quantile(Sample.exact(rest), at).value, abs=1)
    assert median_quantile(0.5) is None
    assert median_quantile(0.0) == 0.5


def test_names_for_half_of_the_loads() -> None:
    assert names_for_half(0.5) == 1
    assert names_for_half(0.015) == 46  # 0.985^45 = 0.5065, 0.985^46 = 0.4989
    assert names_for_half(0.0) is None


def test_a_single_distance_is_that_of_the_vantage_point_whose_ping_is_nearer(tmp_path: Path) -> None:
    drawings, tables, missing = everything(make_h20_dataset(tmp_path / "d", loads_of("4g-h20", 26.65)))
    assert "h20_fig5" in drawings
    assert [line.partition(":")[0] for line in missing if "Frankfurt" in line] == ["h20_fig4"]
    dot, doh = tables["h20_networks"].rows
    assert (dot["vantage_point"], dot["paper_median_ms"], doh["paper_median_ms"]) == ("Seoul", 1, 70)


def test_the_reason_of_a_warm_configuration_is_what_warm_queries_take(tmp_path: Path) -> None:
    do53, cold = Arm("default-h20", "doudp"), Arm("default-h20", "dot")
    warm = Arm("default-h20", "dot", state="warm")
    queries = {
        do53: [[Query(10.0, 10.0)]] * 8,
        cold: [[Query(67.0, 10.0, "cold"), *[Query(12.0, 12.0, "warm")] * 8]] * 8,
    }
    loads = {do53: [100.0] * 8, cold: [130.0] * 8, warm: [101.0] * 8}
    _, tables, _ = everything(make_h20_dataset(tmp_path / "d", loads, queries))
    why = {row["further_levels"]: str(row["why"]) for row in tables["h20_networks"].rows}
    assert "a cold query takes +57 ms on average against Do53" in why["DNS cold"]
    assert "a query on an open connection takes +2 ms on average against Do53" in why["DNS warm"]


def test_table_1_keeps_hits_and_misses_of_the_resolver_apart(tmp_path: Path) -> None:
    loads: dict[Arm, list[float | str | None]] = {
        Arm("default-h20", "doudp"): [100.0] * 4,
        Arm("default-h20", "doudp", cache="miss"): ["page_timeout"] * 4,
    }
    _, tables, _ = everything(make_h20_dataset(tmp_path / "d", loads | loads_of("default-h20", 25.0)))
    found = {
        row["resolver_cache"]: (row["loads_count"], row["total_count"])
        for row in tables["h20_table1"].rows
        if (row["resolver_extra_rtt_ms"], row["status"]) == (0, "Successful")
    }
    assert found == {"hit": (4, 4), "miss": (0, 4)}
