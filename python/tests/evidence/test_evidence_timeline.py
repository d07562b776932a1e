"""A trial's parts stand above each other on one clock, and what overlaps stands side by side."""

import msgspec
import pytest
from made_packets import pcapng as made
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol
from recorded_trial import START_UNIX_MS, page_load, records, resource, trial

from resolab.basics.records import (
    Bootstrap,
    ConnectionState,
    DnsTransport,
    FlowRecord,
    PageFailure,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    Record,
)
from resolab.extras.evidence import pcapng
from resolab.extras.evidence.timeline import list_tracks, trace_bytes
from resolab.extras.evidence.timeline.tracks import Slice, Track, lanes

CAPTURE = made([("up", 1_000, 6_000, b"query"), ("up", 6_500, None, b"lost"), ("down", 7_000, 12_000, b"answer")])
BROWSER_NS = round(START_UNIX_MS * 1e6) - trial().wall_time_unix_ns


def query(purpose: QueryPurpose, **changes: object) -> QueryRecord:
    base = QueryRecord(
        dns_transport=DnsTransport.DOQ, resolver="quic://r", bootstrap=Bootstrap.GIVEN, qname="a.", qtype="A",
        purpose=purpose, sequence=0, time_origin_ns=5_000, connection=ConnectionState.COLD, query_bytes=1,
        attempt_count=1, addresses=[], quic_handshake_start_ns=0, quic_handshake_end_ns=40,
        query_exchange_start_ns=10, query_exchange_end_ns=90,
        query_response_time_ns=90,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def by_name(tracks: list[Track]) -> dict[str, Track]:
    return {one.name: one for one in tracks}


def test_the_browsers_instants_are_brought_to_the_records_clock() -> None:
    browser = by_name(list_tracks(records()))["chromium"]
    measured = browser.slices[-1]
    assert (measured.name, measured.start_ns) == ("measured load", BROWSER_NS)
    assert measured.end_ns - measured.start_ns == 463_600_000
    moments = {one.name: one.at_ns - BROWSER_NS for one in browser.moments}
    assert moments["load event"] == 463_600_000
    assert [one.name for one in browser.tracks] == [
        "wikipedia.resolab.test/", "wikipedia.resolab.test/logo.png", "wikipedia.resolab.test/index.js",
    ]  # fmt: skip


def test_a_request_in_early_data_has_its_handshake_beside_it_and_any_other_inside() -> None:
    early = by_name(list_tracks(records()))["chromium"].tracks[0]
    assert [one.name for one in early.slices[0].inside] == ["look-up", "wait", "receive"]
    assert [one.name for one in early.tracks[0].slices] == ["QUIC"]
    late = resource("/", "navigation", 0.0, 2.0, 3.0, 3.0, 9.0, 9.0, 10.0, 11.0, size=1)
    (request,) = by_name(list_tracks([trial(), page_load(), late]))["chromium"].tracks
    assert [one.name for one in request.slices[0].inside] == ["look-up", "QUIC", "wait", "receive"]
    assert not request.tracks


def test_the_same_request_has_one_number_in_browser_and_edge() -> None:
    tracks = by_name(list_tracks(records()))
    asked = {one.slices[0].name: one.slices[0].flow for one in tracks["chromium"].tracks}
    served = [one for track in tracks["edge"].tracks if track.name.startswith("requests") for one in track.slices]
    assert len(served) == 6  # the warm-up's, too, which have none
    assert {one.name.partition("?")[0]: one.flow for one in served if one.flow} == asked


def test_client_and_stub_have_the_phases_of_their_queries() -> None:
    tracks = by_name(list_tracks([*records(), query(QueryPurpose.MEASURED), query(QueryPurpose.FORWARDED)]))
    for part in ("resolab's client", "stub"):
        (one,) = tracks[part].tracks[0].slices
        assert (one.start_ns, one.end_ns) == (5_000, 5_090)
        # In early data the exchange begins before the handshake is over.
        inside = [(phase.name, phase.start_ns, phase.end_ns) for phase in one.inside]
        assert inside == [("quic_handshake", 5_000, 5_010), ("query_exchange", 5_010, 5_090)]


def test_the_link_counts_packets_under_way_and_names_what_it_dropped() -> None:
    flow = FlowRecord(
        protocol="udp", client_address="10.77.0.2", client_port=4_000, server_address="10.77.0.1", server_port=53,
        first_packet_ns=1_000, last_packet_ns=12_000, up_packets_count=2, up_bytes=9, down_packets_count=1, down_bytes=6,
    )  # fmt: skip
    link = by_name(list_tracks([*records(), flow], list(pcapng.stamps(CAPTURE))))["link"]
    below = by_name(list(link.tracks))
    assert [one.name for one in below["flows"].slices] == ["udp 10.77.0.1:53"]
    up = [(one.at_ns, one.value) for one in below["packets under way up"].counts]
    assert up == [(1_000, 1), (6_000, 0), (6_500, 0)]
    assert [(one.name, one.at_ns) for one in below["dropped up"].moments] == [("dropped: loss", 6_500)]
    assert "dropped down" not in below


@pytest.mark.parametrize(
    ("failure", "told", "wanted_ms"),
    [
        # Its bar ends where it failed, not at the 30 s it was given.
        (PageFailure.DNS, {"domain_lookup_start_ms": 1.0, "domain_lookup_end_ms": 12.0}, 12),
        (PageFailure.CONNECT, {"domain_lookup_end_ms": 12.0, "connect_start_ms": 13.0}, 13),
        (PageFailure.INCOMPLETE, {"plt_ms": 480.0, "response_end_ms": 70.0}, 480),
        (PageFailure.HTTP_STATUS, {"response_start_ms": 60.0, "response_end_ms": 70.0}, 70),
        (PageFailure.PAGE_TIMEOUT, {"response_start_ms": 60.0}, 30_000),
        (PageFailure.OTHER, {}, 0),
    ],
)
def test_a_failed_load_s_bar_ends_with_what_is_known_of_it(
    failure: PageFailure, told: dict[str, float], wanted_ms: float
) -> None:
    bare = dict.fromkeys(name for name in PageLoadRecord.__struct_fields__ if name.endswith("_ms") and name not in KEPT)
    begun = {"navigation_start_unix_ms": START_UNIX_MS}
    load = msgspec.structs.replace(page_load(failure=failure), **bare | told | begun)
    browser = by_name(list_tracks([trial(), load]))["chromium"]
    assert browser.slices[0].end_ns - browser.slices[0].start_ns == wanted_ms * 1_000_000


KEPT = {"limit_ms", "navigation_start_unix_ms"}


def test_a_load_that_failed_says_so_and_one_without_a_clock_is_left_out() -> None:
    gone = page_load(failure=PageFailure.DNS)
    assert list_tracks([trial(), gone])[0].slices == []
    timed = msgspec.structs.replace(gone, navigation_start_unix_ms=START_UNIX_MS)
    (browser,) = list_tracks([trial(), timed])
    assert browser.slices[0].name == "measured load, failed: dns"
    assert browser.slices[0].end_ns == browser.slices[0].start_ns, "nothing is known of it"


def test_slices_go_on_the_first_track_that_is_free() -> None:
    slices = [Slice("a", 0, 10), Slice("b", 5, 8), Slice("c", 10, 12), Slice("d", 6, 7)]
    laid = {track.name: [one.name for one in track.slices] for track in lanes("x", slices)}
    assert laid == {"x 1": ["a", "c"], "x 2": ["b"], "x 3": ["d"]}
    assert [track.name for track in lanes("x", slices[:1])] == ["x"]
    assert lanes("x", []) == []


def test_the_trace_can_be_read_and_every_slice_that_begins_ends() -> None:
    all_records: list[Record] = [*records(), query(QueryPurpose.MEASURED)]
    tracks = list_tracks(all_records, list(pcapng.stamps(CAPTURE)))
    trace = protocol.Trace.FromString(trace_bytes(tracks, monotonic_ns=7, wall_time_unix_ns=10**18))
    snapshot = next(one.clock_snapshot for one in trace.packet if one.HasField("clock_snapshot"))
    assert {one.clock_id: one.timestamp for one in snapshot.clocks} == {3: 7, 6: 7, 1: 10**18}
    names = {
        one.track_descriptor.uuid: one.track_descriptor for one in trace.packet if one.HasField("track_descriptor")
    }
    tops = [one.name for one in names.values() if not one.parent_uuid]
    assert tops == ["chromium", "resolab's client", "link", "edge"]
    events = [(one.timestamp, one.track_event) for one in trace.packet if one.HasField("track_event")]
    for number in names:
        open_since: list[int] = []
        for at_ns, event in events:
            if event.track_uuid != number or event.type not in {1, 2}:
                continue
            if event.type == protocol.TrackEvent.TYPE_SLICE_BEGIN:
                open_since.append(at_ns)
            else:
                assert open_since.pop() <= at_ns
        assert not open_since
    flows = [flow for _, event in events for flow in event.flow_ids]
    assert sorted(flows) == [1, 1, 2, 2, 3, 3]
