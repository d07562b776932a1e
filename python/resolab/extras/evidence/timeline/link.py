"""The emulated link as tracks: its windows, its flows and, with a capture, the packets in flight and dropped.

For: pure mapping. Not for: the hosts at its ends (`parts`).
"""

from collections.abc import Iterable, Iterator, Sequence

from resolab.basics.records import FlowRecord, PathSummaryRecord, Record
from resolab.extras.evidence.pcapng import PacketStamp
from resolab.extras.evidence.timeline.tracks import Count, Fact, InstantEvent, Slice, Track, lanes

WAYS = (("up", True), ("down", False))


def link_tracks(records: Iterable[Record], stamps: Sequence[PacketStamp] = ()) -> list[Track]:
    """Return the tracks of one trial's link."""
    all_records = list(records)
    windows = [_window(one) for one in all_records if isinstance(one, PathSummaryRecord)]
    flows = [_flow(one) for one in all_records if isinstance(one, FlowRecord)]
    return [*lanes("windows", windows), *lanes("flows", flows), *_packets(stamps)]


def _window(summary: PathSummaryRecord) -> Slice:
    facts: dict[str, Fact] = {"profile": summary.profile}
    for word, way in (("up", summary.up), ("down", summary.down)):
        dropped = way.dropped_loss_count + way.dropped_queue_count + way.dropped_codel_count
        dropped += way.dropped_policer_count + way.dropped_outage_count + way.dropped_device_count
        facts |= {f"{word}_packets_count": way.packets_in_count, f"{word}_dropped_count": dropped}
    return Slice(summary.label or "window", summary.window_start_ns, summary.window_end_ns, facts)


def _flow(flow: FlowRecord) -> Slice:
    client = f"{flow.client_address}:{flow.client_port}" if flow.client_port else flow.client_address
    server = f"{flow.server_address}:{flow.server_port}" if flow.server_port else flow.server_address
    facts: dict[str, Fact] = {
        "client": client,
        "server": server,
        "up_packets_count": flow.up_packets_count,
        "up_bytes": flow.up_bytes,
        "down_packets_count": flow.down_packets_count,
        "down_bytes": flow.down_bytes,
    }
    return Slice(f"{flow.protocol} {server}", flow.first_packet_ns, flow.last_packet_ns, facts)


def _packets(stamps: Sequence[PacketStamp]) -> Iterator[Track]:
    """Count the packets in flight in each direction; a dropped packet is not counted and appears as an instant."""
    for word, up in WAYS:
        of_way = sorted((one for one in stamps if one.up is up), key=lambda one: one.at_ns)
        if not of_way:
            continue
        under_way, counts, drops = 0, [], []
        for one in of_way:
            if one.comment is not None:
                drops.append(InstantEvent(one.comment, one.at_ns))
                # Refused at the far end: it had been under way until then.
                under_way -= 0 if one.entered else 1
            else:
                under_way += 1 if one.entered else -1
            # What entered before the capture began comes out of it, too.
            under_way = max(0, under_way)
            counts.append(Count(one.at_ns, under_way))
        yield Track(f"packets under way {word}", counts=counts)
        if drops:
            yield Track(f"dropped {word}", moments=drops)
