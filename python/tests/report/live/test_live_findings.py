"""What a live report says, against a dataset whose truth is known."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import msgspec
import pytest
from live_dataset import RECURSION_MS, RTT_MS, SITES_COUNT, Truth, make_live_dataset, page

from resolab.basics.records import PageFailure
from resolab.report.findings.analysis import analyse
from resolab.report.live.answers import live_answers
from resolab.report.live.circumstances import live_environment, live_lines
from resolab.report.live.failures import STATUSES, LiveStatus, _describe_dropped, live_status, status_table
from resolab.report.live.findings import live_findings
from resolab.report.live.lookups import sample_of_sites
from resolab.report.live.study import LiveStudy
from resolab.report.plots import Drawing, resolver_look, save_drawing
from resolab.report.plots.save import Value
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph
from resolab.store import build_tables, open_dataset
from resolab.store.live.queries import LookupRow, StatusRow
from resolab.studies.h20.live.figures import SECTION

if TYPE_CHECKING:
    from resolab.report.parts.named_table import NamedTable

FAULTS = {
    # Dead for everybody: it says nothing of any difference.
    (page(7), "", ""): (PageFailure.CONNECT, "connection refused"),
    (page(6), "quick", "dot"): (PageFailure.PAGE_TIMEOUT, "no load event within 30 s"),
    (page(5), "", "doh"): (PageFailure.LEFT_ALONE, "site05.example is on the opt-out list"),
    (page(4), "middle", ""): (PageFailure.DNS, "REFUSED"),
    (page(3), "far", "doudp"): (PageFailure.HTTP_STATUS, "status 429"),
    (page(2), "far", "dot"): (PageFailure.DRIVER, "the browser went away"),
}
CONFIGURATIONS = [
    ("local", "doudp"),
    *((name, one) for name in ("quick", "middle", "far") for one in ("doudp", "dot", "doh")),
]


class Told:
    """The findings of one dataset with all that is drawn and tabulated of them."""

    def __init__(self, folder: Path) -> None:
        build_tables(folder)
        with open_dataset(folder) as dataset:
            reading = Reading(dataset)
            assert reading.live is not None
            self.findings, self.live = reading.findings, reading.live
            content = SECTION.build(reading)
        self.drawings: dict[str, Drawing] = {one.name: one for one in content.drawings}
        self.tables: dict[str, NamedTable] = {one.name: one for one in content.tables}
        self.missing = [one.text for one in content.blocks if isinstance(one, Paragraph)]

    def rows(self, name: str, **levels: Value) -> list[dict[str, Value]]:
        table = self.tables[name].rows if name in self.tables else self.drawings[name].rows
        return [dict(row) for row in table if all(row[key] == value for key, value in levels.items())]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(make_live_dataset(tmp_path_factory.mktemp("live") / "d", Truth(faults=FAULTS)))


def test_every_figure_and_table_is_there(told: Told) -> None:
    assert list(told.drawings) == ["live_fig1", "live_fig2", "amortisation"]
    assert list(told.tables) == ["live_table1", "live_lookups", "live_pings", "live_cache_states", "live_amortisation"]
    assert told.missing == []


def test_response_times_are_apart_by_cache_and_connection(told: Told) -> None:
    panels = dict.fromkeys(str(row["panel"]) for row in told.drawings["live_fig1"].rows)
    # What was refused has no time and no cache: no panel of its own.
    assert list(panels) == [
        "all queries, as in the paper", "cached, open connection", "cached, cold connection",
        "not cached, open connection",
    ]  # fmt: skip
    for panel, connection in (("cached, open connection", "warm"), ("cached, cold connection", "cold")):
        found = {(row["resolver"], row["dns_transport"]) for row in told.rows("live_fig1", panel=panel)}
        assert found == set(CONFIGURATIONS)
        for resolver in ("quick", "middle", "far"):
            (row, *_) = told.rows("live_fig1", panel=panel, resolver=resolver, dns_transport="dot")
            assert row["connection"] == connection
            trips = 3 if connection == "cold" else 1
            assert row["median_ms"] == pytest.approx(trips * RTT_MS[resolver], abs=0.5)
            assert row["median_ci_low_ms"] is None  # queries of one site are alike: no interval over them
    (missed, *_) = told.rows("live_fig1", panel="not cached, open connection", resolver="quick")
    assert missed["median_ms"] == pytest.approx(RTT_MS["quick"] + RECURSION_MS, abs=0.5)


def test_the_figure_can_be_saved(told: Told, tmp_path: Path) -> None:
    svg = save_drawing(told.drawings["live_fig1"], tmp_path)
    assert svg.startswith("<svg")
    assert (tmp_path / "live_fig1.csv").read_text().startswith("vantage_point,panel,resolver,dns_transport,connection,")


def test_colour_is_the_resolvers_and_dash_the_transports(told: Told) -> None:
    figure = told.drawings["live_fig1"].figure
    lines = {str(line.get_label()).partition(":")[0]: line for line in figure.axes[0].get_lines()}
    assert list(lines)[:3] == ["DoUDP, local", "DoUDP, quick", "DoT, quick"]
    assert len(lines) == len(CONFIGURATIONS)
    colours = {name: line.get_color() for name, line in lines.items()}
    assert colours["DoT, quick"] == colours["DoH, quick"] != colours["DoT, far"]
    dashes = [resolver_look(place, one).dash for place in (0, 1) for one in ("doudp", "dot", "doh")]
    assert dashes[:3] == dashes[3:]
    assert len({str(one) for one in dashes}) == 3


def test_the_matrix_holds_every_pair_with_its_planted_difference(told: Told) -> None:
    pairs = {
        tuple(str(row[f"{side}_{level}"]) for side in ("row", "column") for level in ("resolver", "dns_transport"))
        for row in told.drawings["live_fig2"].rows
    }
    assert len(pairs) == 10 * 9
    far = {
        "row_resolver": "far",
        "row_dns_transport": "doh",
        "column_resolver": "local",
        "column_dns_transport": "doudp",
    }
    (row, *_) = told.rows("live_fig2", **far)
    assert row["median_ms"] == pytest.approx(3 * RTT_MS["far"] - RTT_MS["local"], abs=3)
    assert row["band"] == "slower by more than 100 ms"
    assert row["ci_unit"] == "page"
    # Eight sites: one is dead for both, one opted out when DoH was asked for it.
    assert (row["pairs_count"], row["both_failed_count"]) == (6, 1)
    assert "row_resolver_cache" not in row
    quick = {"row_resolver": "quick", "row_dns_transport": "dot", "column_resolver": "local"}
    assert {(row["pairs_count"], row["censored_count"]) for row in told.rows("live_fig2", **quick)} == {(7, 1)}
    assert "left out (1 to 2 a cell)" in told.drawings["live_fig2"].caption


def test_no_load_is_dropped_from_table_1(told: Told) -> None:
    counts: Counter[tuple[Value, Value]] = Counter()
    statuses: dict[tuple[Value, Value], dict[Value, Value]] = {}
    for row in told.rows("live_table1"):
        key = row["resolver"], row["dns_transport"]
        counts[key] += int(str(row["loads_count"]))
        statuses.setdefault(key, {})[row["status"]] = row["loads_count"]
    assert counts == dict.fromkeys(CONFIGURATIONS, SITES_COUNT)
    assert statuses["local", "doudp"]["Other error"] == 1
    assert statuses["quick", "dot"]["Page-load timeout"] == 1
    assert statuses["quick", "doh"]["Opted out"] == 1
    assert {statuses["middle", one]["Refused by resolver"] for one in ("doudp", "dot", "doh")} == {1}
    assert statuses["far", "doudp"]["429"] == 1
    assert statuses["far", "dot"]["Browser error"] == 1
    columns = told.tables["live_table1"].table.columns
    # The paper's five stand there whatever happened, ours only where they did.
    assert columns[4:] == (
        "Successful %", "Page-load timeout %", "DNS error %", "Browser error %", "Other error %",
        "Refused by resolver %", "429 %", "Opted out %",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("failure", "told", "status"),
    [
        (None, {}, LiveStatus.SUCCESSFUL),
        (None, {"loaded": False}, LiveStatus.BROWSER_ERROR),
        ("http_status", {"failure_detail": "status 403"}, LiveStatus.FORBIDDEN),
        ("http_status", {"failure_detail": "status 500"}, LiveStatus.HTTP_STATUS),
        ("dns", {"dns_failure": "nxdomain"}, LiveStatus.DNS_ERROR),
        ("dns", {"dns_failure": "refused"}, LiveStatus.REFUSED),
        ("dns", {"refused": True}, LiveStatus.REFUSED),
        ("dns", {"dns_failure": "timeout", "refused": True}, LiveStatus.DNS_ERROR),
        ("tls", {"refused": True}, LiveStatus.OTHER_ERROR),
        ("left_alone", {"failure_detail": "x answered HTTP status 429: left alone"}, LiveStatus.LEFT_ALONE),
        ("a failure of a later version", {}, LiveStatus.OTHER_ERROR),
    ],
)
def test_a_load_has_one_status(failure: str | None, told: dict[str, Any], status: LiveStatus) -> None:
    levels = {"trial_id": "t", "profile": "p", "resolver": "r", "dns_transport": "dot", "page": "s"}
    row = {**levels, "loaded": True, "failure": failure, "failure_detail": None, "refused": False, **told}
    assert live_status(msgspec.convert(row, StatusRow)) is status


def test_browsers_are_told_apart(tmp_path: Path) -> None:
    truth = Truth(browsers=("firefox", "chromium"), faults={(page(0), "far", "dot"): (PageFailure.DNS, "NXDOMAIN")})
    folder = make_live_dataset(tmp_path / "d", truth, sites_count=6)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
        live = live_findings(dataset, findings)
        table = status_table(LiveStudy(dataset, findings), live.outcomes)
    assert any(
        "quick, page load time against its DoUDP: DoT, Chromium +" in one for one in live_answers(findings, live)
    )
    assert len(table.table.rows) == 20
    assert tuple(table.table.rows[16][:4]) == ("box-home", "far", "DoT, Chromium", "6")
    ((_, further),) = table.further
    assert [(*row[2:3], row[-1]) for row in further.rows] == [("DoT, Chromium", "1"), ("DoT, Firefox", "1")]


def test_every_failure_class_of_a_page_has_a_status() -> None:
    assert set(STATUSES) | {"http_status"} == {str(one) for one in PageFailure}


def test_lookups_are_over_sites_and_against_do53_of_the_same_resolver(told: Told) -> None:
    way = {"resolver": "far", "dns_transport": "dot", "cache": "hit"}
    (cold,) = told.rows("live_lookups", connection="cold", **way)
    (later,) = told.rows("live_lookups", connection="warm", **way)
    assert cold["sites_count"] == SITES_COUNT
    assert cold["against_do53_ms"] == pytest.approx(2 * RTT_MS["far"], abs=0.5)
    assert later["against_do53_ms"] == pytest.approx(0, abs=0.5)
    assert cold["against_baseline_ms"] == pytest.approx(3 * RTT_MS["far"] - RTT_MS["local"], abs=0.5)
    assert None not in (cold["against_do53_ci_low_ms"], cold["against_do53_ci_high_ms"])
    (own,) = told.rows("live_lookups", resolver="far", dns_transport="doudp", cache="miss")
    assert own["against_do53_ms"] is None
    assert own["against_baseline_ms"] == pytest.approx(RTT_MS["far"] - RTT_MS["local"], abs=0.5)
    # A refused look-up stands among all of them, as at least the client's deadline, and in no known cache.
    (every,) = told.rows("live_lookups", resolver="middle", dns_transport="doudp", cache="every")
    assert every["failed_count"] == 8
    (known,) = told.rows("live_lookups", resolver="middle", dns_transport="doudp", cache="hit")
    assert (known["sites_count"], known["failed_count"]) == (SITES_COUNT - 1, 0)


def test_pings_name_their_method_and_have_no_time_without_an_answer(told: Told) -> None:
    (quick,) = told.rows("live_pings", resolver="quick")
    assert (quick["method"], quick["addresses"]) == ("icmp", "198.18.1.1")
    assert quick["median_rtt_ms"] == pytest.approx(RTT_MS["quick"], abs=0.1)
    # Three transports of eight sites, but for one that opted out under DoH; the fifth ping of each was lost.
    assert (quick["sent_count"], quick["answered_count"]) == (5 * 23, 4 * 23)
    (middle,) = told.rows("live_pings", resolver="middle")
    assert (middle["method"], middle["addresses"]) == ("tcp", "198.18.1.1 port 853")
    (far,) = told.rows("live_pings", resolver="far")
    assert (far["method"], far["answered_count"], far["median_rtt_ms"], far["least_rtt_ms"]) == (None, 0, None, None)


def test_cache_states_have_their_shares(told: Told) -> None:
    shares = {row["cache_state"]: row["share_ratio"] for row in told.rows("live_cache_states", resolver="local")}
    assert shares == {"first_asked": 0.5, "within_ttl": 0.5, "after_ttl": 0, "unknown": 0}
    unknown = told.rows("live_cache_states", resolver="middle", dns_transport="dot", cache_state="unknown")
    assert [(row["lookups_count"], row["failed_count"]) for row in unknown] == [(8, 8)]


def test_amortisation_is_of_resolvers_with_do53_and_of_cached_answers(told: Told) -> None:
    rows = told.rows("live_amortisation")
    assert {(row["resolver"], row["dns_transport"]) for row in rows} == set(CONFIGURATIONS[1:]) - {
        (name, "doudp") for name in RTT_MS
    }
    (quick,) = told.rows("live_amortisation", resolver="quick", dns_transport="dot")
    # Misses are not in it: they would make Do53, which was asked first, look slow.
    assert quick["do53_mean_ms"] == pytest.approx(RTT_MS["quick"], abs=0.5)
    (middle,) = told.rows("live_amortisation", resolver="middle", dns_transport="dot")
    # Nor are refusals, which are answers and no lost packets.
    assert middle["do53_mean_ms"] == pytest.approx(RTT_MS["middle"], abs=0.5)
    assert quick["cold_mean_ms"] == pytest.approx(3 * RTT_MS["quick"], abs=0.5)


def test_the_answers_come_with_their_intervals_and_say_what_is_alike(told: Told) -> None:
    answers = live_answers(told.findings, told.live)
    assert answers[0].startswith(
        "From box-home, page load time over 7 sites: no other configuration is told to be faster than DoUDP, local; "
    )
    assert "are alike within 30 ms" in answers[0]
    assert "pairs of which both loads failed are left out (up to 2)" in answers[0]
    (quick,) = (
        one for one in answers if one.startswith("From box-home, quick, page load time against its DoUDP: DoT +")
    )
    assert "(n = 6), alike within 30 ms." in quick
    (far,) = (one for one in answers if one.startswith("From box-home, far, page load time against its DoUDP: DoT +18"))
    # Its Do53 failed once: a difference of at most so much, whose interval has no lower end.
    assert "(n = 6), not told apart" in far
    (cached,) = (one for one in answers if one.startswith("From box-home, quick, answers from its cache: DoUDP 10."))
    assert "against its DoUDP DoT cold +20.0 ms [+19.9, +2" in cached
    assert "DoT on an open connection 0.0 ms [" in cached
    assert cached.endswith("(n = 8 sites).")


def test_pairs_without_an_interval_are_counted(told: Told) -> None:
    live = told.live
    assert "no interval" not in live_answers(told.findings, live)[0]
    bare = [
        replace(one, curve=replace(one.curve, median_ms=replace(one.curve.median_ms, ci_low=None, ci_high=None)))
        for one in live.pairs
    ]
    answer = live_answers(told.findings, replace(live, pairs=bare))[0]
    once = len(bare) // 2
    assert f"0 of {once} pairs of configurations are told apart" in answer
    assert f", {once} have no interval" in answer


def test_trials_of_copies_are_counted_where_they_are_left_out(told: Told) -> None:
    findings, first = told.findings, told.findings.loads[0]
    study = LiveStudy.__new__(LiveStudy)
    study.findings = findings
    assert "None is dropped." in status_table(study, []).note
    copied = next(one for one in findings.plan.conditions() if one.id == first.condition)
    plan = Mock(wraps=findings.plan, conditions=lambda: [copied, replace(copied, replicate=2)])
    copy = msgspec.structs.replace(first, condition=replace(copied, replicate=2).id)
    study.findings = replace(findings, plan=plan, loads=[first, copy, copy])
    assert "2 trials of copies left out, which are for A/A comparisons" in _describe_dropped(study)


def test_the_ground_stands_above_all(told: Told) -> None:
    (line,) = live_lines(told.findings, told.live)
    assert line == (
        "Live, from vantage point box-home, 2025-10-09 09:10 to 2025-10-09 17:02 UTC; root, browser in a mount "
        "namespace; operator https://operator.test/study; sites by their URLs: 8 drawn, 8 tried, 7 loaded at least once, 0 "
        "left alone by our manners, 1 opted out."
    )
    facts = dict(live_environment(told.findings, told.live))
    assert facts["IPv6"] == "no route: A alone is asked for"
    assert facts["stop signs"] == "http_429"
    assert facts["resolver local"] == "doudp system"


def test_a_site_most_of_whose_look_ups_failed_is_at_least_what_they_were_given() -> None:
    row = LookupRow(
        profile="box-home", resolver="far", dns_transport="dot", connection="cold", page=page(1), cache="every", n=4,
        failed_count=3, median_ms=float("inf"), limit_ms=5_000.0,
    )  # fmt: skip
    found = sample_of_sites([row])
    assert (list(found.low), list(found.high)) == ([5_000.0], [float("inf")])
