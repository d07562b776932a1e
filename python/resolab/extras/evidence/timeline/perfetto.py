"""A timeline as a Perfetto trace, for ui.perfetto.dev and trace_processor.

For: converting tracks to the format's packets (TrackDescriptor, TrackEvent, ClockSnapshot). Not for: the content of the
tracks (`parts`, `link`).
"""

import itertools
from collections.abc import Sequence
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protocol
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

from resolab.extras.evidence.timeline.tracks import Fact, Slice, Track

SEQUENCE = 1
CATEGORY = "resolab"


class _Writer:
    """The packets of one trace, in the order of their addition."""

    def __init__(self, monotonic_ns: int, wall_time_unix_ns: int) -> None:
        self._builder = TraceProtoBuilder()
        self._numbers = itertools.count(1)
        first = self._packet()
        first.sequence_flags = protocol.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        first.trace_packet_defaults.timestamp_clock_id = protocol.BUILTIN_CLOCK_MONOTONIC
        clocks = self._packet().clock_snapshot
        clocks.primary_trace_clock = protocol.BUILTIN_CLOCK_MONOTONIC
        for clock, at_ns in (
            (protocol.BUILTIN_CLOCK_MONOTONIC, monotonic_ns),
            # Wanted by readers, and the same but for times of sleep.
            (protocol.BUILTIN_CLOCK_BOOTTIME, monotonic_ns),
            (protocol.BUILTIN_CLOCK_REALTIME, wall_time_unix_ns),
        ):
            clocks.clocks.add(clock_id=clock, timestamp=at_ns)

    def add(self, track: Track, rank: int, above: int | None = None) -> None:
        number = next(self._numbers)
        described = self._packet().track_descriptor
        described.uuid, described.name = number, track.name
        described.sibling_order_rank = rank
        described.child_ordering = protocol.TrackDescriptor.EXPLICIT
        if above is not None:
            described.parent_uuid = above
        if track.counts:
            described.counter.SetInParent()
        for one in track.slices:
            self._slice(number, one)
        for moment in track.moments:
            event = self._event(number, moment.at_ns, protocol.TrackEvent.TYPE_INSTANT)
            event.name = moment.name
        for count in track.counts:
            event = self._event(number, count.at_ns, protocol.TrackEvent.TYPE_COUNTER)
            event.counter_value = count.value
        for place, below in enumerate(track.tracks):
            self.add(below, place, number)

    def text(self) -> bytes:
        written: bytes = self._builder.serialize()
        return written

    def _slice(self, track: int, one: Slice) -> None:
        begin = self._event(track, one.start_ns, protocol.TrackEvent.TYPE_SLICE_BEGIN)
        begin.name = one.name
        if one.flow is not None:
            begin.flow_ids.append(one.flow)
        for name, value in one.facts.items():
            _annotate(begin.debug_annotations.add(), name, value)
        for below in one.inside:
            self._slice(track, below)
        self._event(track, max(one.start_ns, one.end_ns), protocol.TrackEvent.TYPE_SLICE_END)

    def _event(self, track: int, at_ns: int, kind: int) -> Any:
        packet = self._packet()
        packet.timestamp = at_ns
        packet.track_event.type, packet.track_event.track_uuid = kind, track
        packet.track_event.categories.append(CATEGORY)
        return packet.track_event

    def _packet(self) -> Any:
        packet = self._builder.add_packet()
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet


def trace_bytes(tracks: Sequence[Track], *, monotonic_ns: int, wall_time_unix_ns: int) -> bytes:
    """Write tracks as a trace; the two instants are the same moment, read from each clock."""
    writer = _Writer(monotonic_ns, wall_time_unix_ns)
    for place, track in enumerate(tracks):
        writer.add(track, place)
    return writer.text()


def _annotate(annotation: Any, name: str, value: Fact) -> None:
    annotation.name = name
    if isinstance(value, bool):
        annotation.bool_value = value
    elif isinstance(value, int):
        annotation.int_value = value
    elif isinstance(value, float):
        annotation.double_value = value
    else:
        annotation.string_value = str(value)
