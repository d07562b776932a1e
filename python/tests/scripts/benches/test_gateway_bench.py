"""The benchmark of the gateway: which loads it counts, and what it judges."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benches.common.part import BenchPart
from benches.common.progress import Progress
from benches.gateway import bodies, corpus, in_ms, round_trips
from benches.gateway.bench import GatewayBench, plan
from benches.gateway.bodies import Transfer
from benches.gateway.corpus import PageLoadResults
from resolab.basics.records import (
    Bootstrap,
    ConnectionSharing,
    DnsTransport,
    GatewayConnectionRecord,
    GatewayRequestRecord,
    HandshakeMode,
    HttpVersion,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    Record,
)
from resolab.plan import Condition

QUERY_NS, FIRST_NS = 5_000_000_000, 5_380_000_000


def arms(browser: str) -> list[Condition]:
    return [one for one in plan("example", "4g", browser).conditions() if one.resolver_path == "gateway"]


def query(origin_ns: int, qtype: str = "A") -> QueryRecord:
    return QueryRecord(
        dns_transport=DnsTransport.DOH3, resolver="h3://dns.resolab.test", bootstrap=Bootstrap.GIVEN,
        qname="example.resolab.test.", qtype=qtype, purpose=QueryPurpose.FORWARDED, sequence=0,
        time_origin_ns=origin_ns, query_response_time_ns=190_000_000, query_bytes=40, attempt_count=1,
        addresses=["10.77.1.1"],
    )  # fmt: skip


def records(mode: HandshakeMode = HandshakeMode.FULL) -> list[Record]:
    """A warm-up and a measured load."""
    made: list[Record] = [
        PageLoadRecord(
            url="https://example.resolab.test/", browser="chromium", browser_version="1", measured=True,
            requested_handshake_mode=HandshakeMode.FULL, limit_ms=30_000.0,
        ),
    ]  # fmt: skip
    for load, began_ns in enumerate((QUERY_NS - 2_000_000_000, QUERY_NS)):
        made += [
            query(began_ns + 1_000_000),
            query(began_ns, "HTTPS"),
            GatewayRequestRecord(
                load=load, request_id=load, leg_id=load, leg_http_version=HttpVersion.H3, connection_id=load,
                method="GET", authority="example.resolab.test", path="/", received_ns=began_ns + 195_000_000,
                interim_responses_count=0, head_ns=began_ns + FIRST_NS - QUERY_NS, request_body_bytes=0,
                response_body_bytes=1, sent_again_count=0, cancelled=False,
            ),
            GatewayConnectionRecord(
                load=load, connection_id=load, host="example.resolab.test", http_version=HttpVersion.H3,
                requested_handshake_mode=mode, handshake_mode=mode, wanted_ns=began_ns, closed_ns=FIRST_NS,
                requests_count=1,
            ),
        ]  # fmt: skip
    return made


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_every_arm_has_its_number_of_round_trips(browser: str) -> None:
    found = {(one.connection_sharing, one.speculation, one.requested_handshake_mode) for one in arms(browser)}
    assert found == set(round_trips.MUST)


def test_a_load_counts_from_its_first_query_and_only_with_its_handshake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans: list[tuple[int, int]] = []
    monkeypatch.setattr(round_trips.path_capture, "read", lambda _file: [])

    def trips(_crossings: object, since_ns: int, until_ns: int, _bytes: int) -> int:
        spans.append((since_ns, until_ns))
        return 2

    monkeypatch.setattr(round_trips, "_trips", trips)
    full = next(one for one in arms("chromium") if one.requested_handshake_mode is HandshakeMode.FULL)
    assert full.connection_sharing is ConnectionSharing.SEPARATE
    (seen,) = round_trips._evaluate_load(full, records(), tmp_path / "none.pcapng")
    assert (seen.round_trips, seen.first_byte_ms) == (4, 380.0)
    named_ns = QUERY_NS + 1_000_000 + 190_000_000
    assert spans == [(QUERY_NS, named_ns), (named_ns, FIRST_NS)]
    assert round_trips._evaluate_load(full, records(HandshakeMode.RESUMED), tmp_path / "none.pcapng") == []


def test_what_an_arm_takes_is_judged_without_what_every_arm_has() -> None:
    trips = {"separate": 4, "shared": 3, "early": 1}
    against = dict.fromkeys(trips, "separate")
    times = {"chromium": {"separate": [410.0, 408.0, 430.0], "shared": [304.0], "early": [116.0]}, "firefox": {}}
    part = in_ms.part(times, trips, against, 100.0)
    assert [(row[1], row[-3], row[-1]) for row in part.rows] == [
        ("separate", "", ""),
        ("shared", "-6.0", "MISSED"),
        ("early", "+6.0", "MISSED"),
    ]
    nearer = in_ms.part({"chromium": {**times["chromium"], "shared": [306.0], "early": [111.0]}}, trips, against, 100.0)
    assert [row[-1] for row in nearer.rows] == ["", "met", "met"]
    # Without what it is held against there is nothing to judge.
    assert in_ms.part({"firefox": {"shared": [306.0], "separate": []}}, trips, against, 100.0).rows == []


def test_bodies_go_each_way_in_turn_the_order_reversed_every_other_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Standing:
        ready = SimpleNamespace(pid=1)

        async def close(self) -> None:
            pass

    async def start(*_: object, **__: object) -> Standing:
        return Standing()

    async def transfer(_path_pid: int, _edge: object, way: str, _size: int) -> Transfer:
        asked.append(way)
        return Transfer(2.0e9, 0.2, 0.25)

    monkeypatch.setattr(bodies.engine.Path, "start", start)
    monkeypatch.setattr(bodies.engine.Edge, "start", start)
    monkeypatch.setattr(bodies, "_transfer", transfer)
    (part,) = bodies.measure(GatewayBench(True, tmp_path, Progress(0.0), ["chromium"], 2, ["a"]))
    assert asked == [*bodies.WAYS, *reversed(bodies.WAYS)]
    assert [len(one["rates_bps"]) for one in part.data] == [2, 2, 2]


def test_rates_and_processor_time_are_judged_of_the_gateways_ways_alone() -> None:
    slow, fast = Transfer(1.0e9, 0.2, 0.31), Transfer(2.0e9, 0.2, 0.25)
    part = bodies._part({bodies.WAYS[0]: [slow], bodies.WAYS[1]: [slow], bodies.WAYS[2]: [fast]}, 1000)
    assert [row.count("MISSED") for row in part.rows] == [0, 2, 0]
    assert [row.count("met") for row in part.rows] == [0, 0, 2]


def test_a_page_that_is_whole_alone_must_be_whole_through_the_gateway() -> None:
    def loaded(**failures: str | None) -> PageLoadResults:
        arms = dict.fromkeys(corpus.ARMS) | failures
        return PageLoadResults("page", "chromium", arms, dict.fromkeys(corpus.ARMS, 3))

    part = BenchPart("corpus", "", [])
    corpus._add_row(part, "chromium", [loaded(), loaded(native="incomplete")])
    corpus._add_row(part, "chromium", [loaded(), loaded(separate="incomplete")])
    corpus._add_row(part, "chromium", [])
    assert [row[-1] for row in part.rows] == ["met", "MISSED", "MISSED"]
    assert any("not whole without" in remark for remark in part.remarks)


def test_what_it_foresees_grows_with_what_is_asked(tmp_path: Path) -> None:
    one = GatewayBench(True, tmp_path, Progress(0.0), ["chromium"], 2, ["a"])
    two = GatewayBench(True, tmp_path, Progress(0.0), ["chromium", "firefox"], 2, ["a"])
    for part in (round_trips, corpus):
        assert part.estimate_s(two) == 2 * part.estimate_s(one)
