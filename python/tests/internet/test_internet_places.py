"""The box as seen from a vantage point: how far home is from resolvers and nothing else; differences against the truth."""

import json
import tomllib
from pathlib import Path

import msgspec
import pytest
from made_box import PAGES, a_layout
from test_internet_check import MS, START_NS, a_look_up

from resolab.basics.records import DnsTransport, HandshakeMode, HttpVersion, ResolverPath, TrialRecord
from resolab.cli.main import main
from resolab.extras.internet import BoxLayout, RecursionLog, compose, folders_below, new_folder_below
from resolab.extras.internet.check import CheckedLookUp, MissingTruth, judge_look_up
from resolab.extras.internet.dataset import read_look_ups_at
from resolab.extras.internet.edges import configure_edges
from resolab.extras.internet.exchange_config import exchange_configuration
from resolab.extras.internet.place_comparison import DifferenceAgreement, compare_places
from resolab.extras.internet.places import map_to_paper, places
from resolab.extras.internet.recursion import RecursionQuery
from resolab.extras.internet.servers import recursive
from resolab.extras.internet.standard import ONE_WAY_MS, make_address
from resolab.extras.internet.truth import ResolverKnowledge, truth
from resolab.plan import load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.stats import CLUSTERS_NEEDED
from resolab.studies.h20.paper_numbers import FOLLOW_UP, PING_MS
from resolab.studies.printed_places import PrintedDifference

NAME = "h0.s0-calibre-2020-07.test"
PLACES = ("frankfurt", "seoul", "ohio", "california", "sydney")


def from_place(place: str) -> BoxLayout:
    return compose(Path("/nowhere/opt-out"), PAGES, place)


def hit_ms(layout: BoxLayout, resolver: str, transport: DnsTransport, connection: str = "cold") -> float:
    of = layout.resolver(resolver)
    return truth(layout, of, transport, NAME, connection=connection, knowledge=ResolverKnowledge.ANSWER).total_ms


def test_without_a_place_the_box_is_as_it_always_was():
    layout = a_layout()
    told = tomllib.loads(exchange_configuration(layout, 1))["host"]
    assert [(one["name"], one["one_way_ms"]) for one in told] == [
        ("home", 2.0), ("local", 0.5), ("unbound", 4.0), ("knot", 9.0), ("bind", 16.0), ("dnsdist", 24.0),
        ("quick", 6.0), ("deaf", 12.0), ("root", 15.0), ("tld-test", 10.0), ("tld-example", 20.0), ("auth-a", 8.0),
        ("auth-b", 14.0), ("auth-c", 30.0), ("web", 3.0),
    ]  # fmt: skip
    for host in told:
        if host["name"] != "web":
            assert host["network"] == [{"prefix": f"{make_address(host['name'])}/32", "extra_one_way_ms": 0.0}]
    assert all(one.asks_from == one.address for one in layout.resolvers)
    assert layout.place is None


@pytest.mark.parametrize("place", PLACES)
def test_home_is_as_far_from_resolvers_as_published_and_from_all_else_as_ever(place):
    layout, standard = from_place(place), a_layout()
    assert layout.place == place
    for resolver in layout.resolvers:
        rtt_ms = layout.rtt_ms("home", resolver.address)
        ping = places()[place].pings.get(resolver.name)
        assert rtt_ms == pytest.approx(standard.rtt_ms("home", resolver.address) if ping is None else ping.rtt_ms)
    for site in layout.sites:
        for origin in site.origins:
            assert layout.rtt_ms("home", origin.address) == pytest.approx(standard.rtt_ms("home", origin.address))


def test_recursion_is_the_same_from_every_place():
    frankfurt, seoul = from_place("frankfurt"), from_place("seoul")
    for name in ONE_WAY_MS:
        for server in frankfurt.servers:
            assert frankfurt.rtt_ms(name, server.address) == seoul.rtt_ms(name, server.address)
    servers = {server.address for server in seoul.servers}
    for resolver in seoul.resolvers:
        # What it asks from is not farther than its host, or a miss would take longer than the truth says.
        assert resolver.asks_from not in servers | {resolver.address}
        assert seoul.rtt_ms("root", resolver.asks_from) == 2 * (15.0 + seoul.host(resolver.name).one_way_ms)


def test_servers_ask_from_the_second_address_and_answer_at_the_first():
    layout = from_place("seoul")
    for resolver in layout.resolvers:
        for program in recursive(layout, resolver, Path("/nowhere")):
            text = program.files["configuration"]
            if program.name != "dnsdist":
                assert text.count(resolver.asks_from) == 1
            if not program.name.endswith("-behind"):
                assert resolver.address in text
    assert layout.resolver("quick").address in configure_edges(layout, Path("/ca"))["quick"][1]


@pytest.mark.parametrize("place", PLACES)
def test_the_exchange_gets_every_distance_once_and_none_below_zero(place):
    told = tomllib.loads(exchange_configuration(from_place(place), 1))["host"]
    prefixes = [network["prefix"] for host in told for network in host["network"]]
    assert len(prefixes) == len({*prefixes})
    assert min(network["extra_one_way_ms"] for host in told for network in host["network"]) >= 0


def test_every_number_has_a_source_and_is_what_the_papers_print():
    assert tuple(places()) == PLACES
    assert all(ping.source for place in places().values() for ping in place.pings.values())
    provider = {name: stood for stood, name in map_to_paper().items()}
    for title, ping_ms in PING_MS.items():
        assert places()[title.lower()].pings[provider["Cloudflare"]].rtt_ms == ping_ms
    for one in FOLLOW_UP:
        if one.vantage_point == "Ohio":
            assert places()["ohio"].pings[provider[one.resolver]].rtt_ms == one.ping_ms
    assert {one.source for name in ("california", "sydney") for one in places()[name].pings.values()} == {
        "assumed: none published",
        places()["ohio"].pings["local"].source,
    }


def test_the_command_shows_a_place_with_its_sources_and_its_truth(capsys):
    page = ("--page", "calibre-2020-07")
    assert main(["internet", "show", "--place", "seoul", "--json", *page]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["place"] == "seoul"
    assert told["pings"]["bind"] == {"rtt_ms": 30.22, "source": "WWW 2020, section 4"}
    assert main(["internet", "truth", NAME, "-r", "bind", "--place", "seoul", "--json", *page]) == 0
    rows = json.loads(capsys.readouterr().out)
    cold = {
        row["dns_transport"]: row["total_ms"]
        for row in rows
        if (row["knowledge"], row["connection"]) == ("answer", "cold")
    }
    assert cold["doh"] == pytest.approx(3 * 30.22)
    assert main(["internet", "show", "--place", "tokyo", *page]) == 2
    assert "frankfurt, seoul" in capsys.readouterr().err
    assert main(["internet", "run", "--place", "tokyo", "--", "true"]) == 2


def test_hits_and_misses_are_told_by_the_address_recursion_leaves_from():
    layout = from_place("seoul")
    server = next(zone.server for zone in layout.zones if zone.origin == "s0-calibre-2020-07.test")
    asked = RecursionQuery(
        at_ns=START_NS + MS, server=server, resolver=layout.resolver("knot").asks_from, qname=f"{NAME}.", qtype="A"
    )
    miss = judge_look_up(layout, RecursionLog([asked]), a_look_up(30))
    assert isinstance(miss, CheckedLookUp)
    assert (miss.is_hit, miss.truth.asked) == (False, (server,))
    assert judge_look_up(layout, RecursionLog([]), a_look_up(5, address="192.0.2.1:53")) is MissingTruth.FOREIGN


def look_ups(place: str, resolver: str, late_ms: float, *, count: int = 6):
    layout = from_place(place)
    true = truth(
        layout, layout.resolver(resolver), DnsTransport.DOH, NAME, connection="cold", knowledge=ResolverKnowledge.ANSWER
    )
    return [(place, CheckedLookUp(measured_ms=true.total_ms + late_ms + 0.01 * n, truth=true)) for n in range(count)]


def test_differences_are_held_against_the_boxes():
    measured = [*look_ups("frankfurt", "bind", 1.0), *look_ups("seoul", "bind", 4.0), *look_ups("seoul", "knot", 0.0)]
    (row,) = compare_places(measured, "frankfurt")
    assert (row.place, row.resolver, row.count, row.reference_count) == ("seoul", "bind", 6, 6)
    assert row.truth_ms == pytest.approx(3 * (30.22 - 1.0))
    assert row.difference_ms == pytest.approx(row.truth_ms + 3.0)
    # 5 % of 88 ms are 4.4 ms.
    assert row.agreement is DifferenceAgreement.WITHIN
    assert row.low_ms is not None
    assert row.high_ms is not None
    assert row.low_ms <= row.difference_ms <= row.high_ms
    assert row.error_ratio == pytest.approx(3 / 87.66)
    # Google over DoH from Seoul and from Frankfurt, as the follow-up has them.
    assert row.printed == PrintedDifference(119.3, 29.59)
    late = [*look_ups("frankfurt", "bind", 0.0), *look_ups("seoul", "bind", 5.0)]
    assert compare_places(late, "frankfurt")[0].agreement is DifferenceAgreement.OUTSIDE
    near = [*look_ups("frankfurt", "knot", 0.0), *look_ups("california", "knot", 0.9)]
    assert compare_places(near, "frankfurt")[0].agreement is DifferenceAgreement.WITHIN
    assert compare_places(near, "frankfurt")[0].printed is None


def test_few_look_ups_decide_nothing_and_neither_do_wide_ones():
    few = [*look_ups("frankfurt", "bind", 0.0, count=3), *look_ups("seoul", "bind", 0.0, count=3)]
    (row,) = compare_places(few, "frankfurt")
    assert (row.agreement, row.low_ms, row.high_ms) == (DifferenceAgreement.UNDECIDED, None, None)
    wide = [look_ups("seoul", "bind", late_ms, count=1)[0] for late_ms in (-9.0, -6.0, -1.0, 1.0, 6.0, 9.0)]
    (row,) = compare_places([*look_ups("frankfurt", "bind", 0.0), *wide], "frankfurt")
    assert row.agreement is DifferenceAgreement.UNDECIDED
    assert row.difference_ms == pytest.approx(row.truth_ms, abs=0.1)


def test_misses_have_no_part_in_differences():
    misses = [(place, msgspec.structs.replace(one, truth=msgspec.structs.replace(one.truth, knowledge=ResolverKnowledge.ZONE)))
              for place, one in look_ups("frankfurt", "bind", 0.0)]  # fmt: skip
    assert compare_places([*misses, *look_ups("seoul", "bind", 0.0)], "frankfurt") == []


def a_trial(place: str) -> TrialRecord:
    return TrialRecord(
        format_version="1.12", trial_id="b000-t000", block=0, position=0, condition="c", page="p", profile="live",
        dns_transport=DnsTransport.DOH, resolver_path=ResolverPath.NATIVE, http_version=HttpVersion.ANY,
        requested_handshake_mode=HandshakeMode.FULL, vantage_point=place, monotonic_ns=START_NS, wall_time_unix_ns=1,
        load_average_1min=0.0,
    )  # fmt: skip


def a_dataset(folder: Path, late_ms: dict[str, float], *, count: int = 1) -> Path:
    (folder / "trials").mkdir(parents=True)
    for number, (place, late) in enumerate(late_ms.items()):
        took_ms = hit_ms(from_place(place), "knot", DnsTransport.DOH) + late
        look_ups = [a_look_up(took_ms, at_ms=number * 1000 + 20 * repeat) for repeat in range(count)]
        lines = [msgspec.json.encode(one) for one in (a_trial(place), *look_ups)]
        (folder / "trials" / f"b{number:03}-t000.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return folder


def kept_boxes(folder: Path, *named: str) -> Path:
    for place in named:
        box = new_folder_below(folder / place)
        (box / "box.json").write_bytes(msgspec.json.encode(from_place(place), enc_hook=str))
        (box / "recursion").mkdir()
        (box / "recursion" / "root.jsonl").write_text('{"watching": "root"}\n')
    return folder


def test_a_dataset_is_held_against_boxes_that_came_one_after_the_other(tmp_path, capsys):
    boxes = kept_boxes(tmp_path / "boxes", "frankfurt", "seoul", "seoul")
    assert [str(one.relative_to(boxes)) for one in folders_below(boxes)] == ["frankfurt/1", "seoul/1", "seoul/2"]
    dataset = a_dataset(tmp_path / "dataset", {"seoul": 0.3, "frankfurt": 0.1})
    command = ["internet", "places", str(dataset), "--boxes", str(boxes)]
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["reference"], told["counts"]) == ("frankfurt", {"within": 0, "outside": 0, "undecided": 1})
    assert told["rows"][0]["difference_ms"] == pytest.approx(3 * (1.95 - 1.42) + 0.2, abs=1e-3)
    assert main([*command, "--reference", "seoul"]) == 0
    assert "less seoul ms" in capsys.readouterr().out
    late = a_dataset(tmp_path / "late", {"seoul": 5.0, "frankfurt": 0.1}, count=5)
    assert main(["internet", "places", str(late), "--boxes", str(boxes)]) == 1
    assert "1 outside" in capsys.readouterr().out


def test_a_box_is_checked_by_the_look_ups_of_its_place_alone(tmp_path):
    dataset = a_dataset(tmp_path / "dataset", {"seoul": 0.0, "frankfurt": 0.0, "ohio": 0.0})
    assert len(list(read_look_ups_at(dataset, "seoul"))) == 1
    # A run in a box whose vantage point has another name, and a box as it comes.
    assert len(list(read_look_ups_at(dataset, "sydney"))) == len(list(read_look_ups_at(dataset, None))) == 3


def test_the_plan_asks_resolvers_where_the_box_has_them_by_the_papers_names():
    plan = load_plan(PROJECT_ROOT / "plans" / "h20-vantage.toml")
    layout = compose(Path("/nowhere/opt-out"))
    assert plan.live is not None
    for name, provider in map_to_paper().items():
        asked = {one.value: at.host for one, at in plan.live.resolvers[provider.lower()].endpoints.items()}
        resolver = layout.resolver(name)
        assert asked == {"doudp": resolver.address, "dot": resolver.dns_name, "doh": resolver.dns_name}
    assert {site.url for site in plan.live.sites.values()} < {site.url for site in layout.sites}
    assert plan.blocks == len(plan.live.sites) >= CLUSTERS_NEEDED


def test_places_without_boxes_or_look_ups_are_refused_in_a_line(tmp_path, capsys):
    boxes = kept_boxes(tmp_path / "boxes", "frankfurt", "seoul")
    for late_ms, says in (({"ohio": 0.0}, "no box is seen from ohio"), ({"seoul": 0.0}, "with a truth from seoul")):
        dataset = a_dataset(tmp_path / says.replace(" ", "-"), late_ms)
        assert main(["internet", "places", str(dataset), "--boxes", str(boxes)]) == 3
        assert says in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["internet", "places", str(dataset), "--boxes", str(tmp_path / "empty")]) == 3
    assert "there is no box below" in capsys.readouterr().err
