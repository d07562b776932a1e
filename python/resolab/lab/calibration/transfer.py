"""TCP's share of the rate, from one bulk transfer.

For: a record in, a check out. Not for: comparing congestion controls.
"""

import math

from resolab.basics.records import BulkTransferRecord, CalibrationCheck, DirectionProfile
from resolab.lab.calibration.requested_values import DroptailLimit, LossModel, usable_rate_bps
from resolab.lab.calibration.spread import DelaySpread
from resolab.lab.calibration.verdict import UNITS, report_value

HEADER_BYTES = 52
"""IPv4 and TCP headers with time stamps, in bytes."""
ABOVE_TOLERANCE = 0.01
BELOW_TOLERANCE = 0.10
MIN_SEGMENTS_COUNT = 100
HOLES_NEEDED = 10
"""The transfer needs this multiple of the held segments; a hole in the sequence at its end is then negligible."""


def bulk_check(transfer: BulkTransferRecord, way: DirectionProfile, back: DirectionProfile) -> CalibrationCheck:
    """Judge goodput against the rate minus headers: never above, and near the rate without other limits on TCP."""
    segment = transfer.segment_bytes
    got = transfer.counted_bytes * 8e9 / transfer.counted_ns
    segments = transfer.counted_bytes // max(segment, 1)
    rate_bps = usable_rate_bps(way)
    if rate_bps is None:
        return report_value("bulk", transfer.direction, asked=None, got=got, n=segments)
    bound = rate_bps * segment / (segment + HEADER_BYTES + (way.packet_overhead_bytes or 0))
    counted_ms = transfer.counted_ns / 1e6
    spread = DelaySpread.from_direction(way)
    held = _count_held_segments(transfer, way, back, rate_bps)
    # What jitter, a hole in the sequence or a single segment can move into the counted time from before it.
    slack = (2 + held) / max(segments, 1) + (spread.width_ms() / counted_ms if spread else 0.0)
    if got > bound * (1 + ABOVE_TOLERANCE + slack) and way.trace_file is None:
        return _bound(transfer, bound, got, ABOVE_TOLERANCE + slack, segments, within=False)
    if _clean(way) and _clean(back) and segments >= max(MIN_SEGMENTS_COUNT, HOLES_NEEDED * held):
        within = got >= bound * (1 - BELOW_TOLERANCE)
        return _bound(transfer, bound, got, BELOW_TOLERANCE, segments, within=within)
    return report_value("bulk", transfer.direction, asked=bound, got=got, n=segments)


def _count_held_segments(
    transfer: BulkTransferRecord, way: DirectionProfile, back: DirectionProfile, rate_bps: float
) -> int:
    """Count the segments able to wait behind a lost segment: the segments in flight and in the queue."""
    if transfer.retransmitted_segments_count == 0:
        return 0
    queue = DroptailLimit.from_direction(way, transfer.segment_bytes)
    under_way = rate_bps * (way.one_way_delay_ms + back.one_way_delay_ms) / 8e3
    return math.ceil(((queue.limit_bytes if queue else 0) + under_way) / transfer.segment_bytes)


def _clean(way: DirectionProfile) -> bool:
    """Return True when delay, rate and queue are the only effects on TCP."""
    disturbed = way.jitter is not None or way.cross_traffic is not None or way.trace_file is not None
    return not disturbed and way.policer is None and LossModel.from_direction(way).ratio == 0.0


def _bound(
    transfer: BulkTransferRecord, bound: float, got: float, tolerance: float, segments: int, *, within: bool
) -> CalibrationCheck:
    return CalibrationCheck(
        quantity="bulk",
        direction=transfer.direction,
        unit=UNITS["bulk"],
        asked=bound,
        got=got,
        tolerance=tolerance * bound,
        within=within,
        observations_count=segments,
    )
