"""Rate and queue, from a train faster than the link.

For: arrays in, checks out. Not for: choosing the train (`probe_design`).
"""

import numpy as np

from resolab.basics.records import CalibrationCheck, DirectionProfile, QueueDiscipline
from resolab.lab.calibration.requested_values import (
    DroptailLimit,
    TraceOpportunities,
    compute_charged_bytes,
    serialisation_ms,
)
from resolab.lab.calibration.spread import DelaySpread
from resolab.lab.calibration.train import Floats, Train
from resolab.lab.calibration.verdict import judge_value, report_value

RATE_TOLERANCE = 1e-4
QUEUE_LATENESS_MS = 0.3
FULL_QUANTILE = 0.95
MIN_PACKETS_COUNT = 100
MIN_OVERLOAD = 1.05
LARGEST_FILL_SHARE = 0.6


def saturation_checks(train: Train, way: DirectionProfile) -> list[CalibrationCheck]:
    """Judge a train filling link and queue; return no checks without a rate."""
    if way.trace_file is not None:
        return _trace_rate(train, TraceOpportunities.read(way.trace_file))
    if way.rate_bps is None:
        return []
    checks = [_rate(train, way)]
    if way.queue_discipline is not QueueDiscipline.CODEL:
        checks += _queue(train, way)
    return checks


def compute_offered_bps(train: Train, way: DirectionProfile) -> float:
    """Return the offered load of the train, in bits as counted by the rate."""
    return (len(train.sent_ms) - 1) * compute_charged_bytes(way, train.packet_bytes) * 8e3 / max(train.span_ms, 1e-9)


def fill_ms(train: Train, way: DirectionProfile, rate_bps: float) -> float:
    """Return the train's time for filling the queue, in ms."""
    queue = DroptailLimit.from_direction(way, train.packet_bytes)
    surplus_bps = compute_offered_bps(train, way) - rate_bps
    if queue is None or surplus_bps <= 0:
        return float("inf")
    waiting_bits = queue.limit_bytes * 8 * compute_charged_bytes(way, train.packet_bytes) / train.packet_bytes
    return waiting_bits * 1e3 / surplus_bps


def _rate(train: Train, way: DirectionProfile) -> CalibrationCheck:
    asked = way.rate_bps or 0.0
    received = _select_saturated(train, way, asked)
    n = len(received)
    overloaded = compute_offered_bps(train, way) >= MIN_OVERLOAD * asked
    if n < 3:
        verdict = judge_value("rate", train.direction, asked=asked, got=0.0, tolerance=0.0, n=n)
        return verdict if overloaded else report_value("rate", train.direction, asked=asked, got=0.0, n=n)
    packet_ms = serialisation_ms(way, train.packet_bytes)
    between, packets = _earliest_ends(received, packet_ms)
    got = packets * compute_charged_bytes(way, train.packet_bytes) * 8e3 / between
    if way.cross_traffic is not None or not overloaded or n < MIN_PACKETS_COUNT:
        return report_value("rate", train.direction, asked=asked, got=got, n=n)
    spread = DelaySpread.from_direction(way)
    tolerance = RATE_TOLERANCE + (spread.width_ms() / between if spread else 0.0)
    return judge_value("rate", train.direction, asked=asked, got=got, tolerance=tolerance * asked, n=n)


def _select_saturated(train: Train, way: DirectionProfile, rate_bps: float) -> Floats:
    """Return the arrivals while packets waited, after the filling of the queue, up to a possible pause in sending."""
    skip_ms = min(fill_ms(train, way, rate_bps), 0.4 * train.span_ms)
    kept = train.came & (train.sent_ms >= train.sent_ms[0] + skip_ms)
    received, delays = train.received_ms[kept], (train.received_ms - train.sent_ms)[kept]
    if DelaySpread.from_direction(way) is not None or not len(received):
        return np.sort(received)
    packet_ms = serialisation_ms(way, train.packet_bytes)
    queue = DroptailLimit.from_direction(way, train.packet_bytes)
    full_wait_ms = float("inf") if queue is None else queue.limit_bytes / train.packet_bytes * packet_ms
    waited = delays - way.one_way_delay_ms - packet_ms > min(max(packet_ms, 1.0), full_wait_ms / 2)
    first, end = _longest_run(waited)
    stretch: Floats = received[first:end]
    return stretch


def _longest_run(flags: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> tuple[int, int]:
    """Return first and end of the longest stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])


def _earliest_ends(received: Floats, packet_ms: float) -> tuple[float, int]:
    """Return time and packets between an early and a late arrival.

    Packets can arrive late, never early. From the first tenth of the arrivals, and from the last tenth, take the
    arrival earliest against an even spacing.
    """
    number = np.arange(len(received))
    against = received - number * packet_ms
    end = max(1, len(received) // 10)
    first = int(np.argmin(against[:end]))
    last = len(received) - end + int(np.argmin(against[-end:]))
    return float(received[last] - received[first]), last - first


def _queue(train: Train, way: DirectionProfile) -> list[CalibrationCheck]:
    queue, rate = DroptailLimit.from_direction(way, train.packet_bytes), way.rate_bps or 0.0
    if queue is None:
        return []
    spread, packet_ms = DelaySpread.from_direction(way), serialisation_ms(way, train.packet_bytes)
    filled_ms = fill_ms(train, way, rate)
    full = train.came & (train.sent_ms >= min(1.1 * filled_ms, 0.8 * train.span_ms))
    waits_ms = (train.received_ms - train.sent_ms)[full] - way.one_way_delay_ms - packet_ms
    if not len(waits_ms):
        return [report_value("queue", train.direction, asked=queue.limit_bytes, got=0.0, n=0)]
    bytes_per_ms = train.packet_bytes / packet_ms
    got = float(np.quantile(waits_ms, FULL_QUANTILE)) * bytes_per_ms
    width_bytes = spread.width_ms() * bytes_per_ms if spread else 0.0
    fills = filled_ms <= LARGEST_FILL_SHARE * train.span_ms
    n = len(waits_ms)
    if not fills or way.cross_traffic is not None or width_bytes > queue.limit_bytes / 2:
        return [report_value("queue", train.direction, asked=queue.limit_bytes, got=got, n=n)]
    tolerance = train.packet_bytes + QUEUE_LATENESS_MS * bytes_per_ms + width_bytes
    return [judge_value("queue", train.direction, asked=queue.limit_bytes, got=got, tolerance=tolerance, n=n)]


def _trace_rate(train: Train, trace: TraceOpportunities) -> list[CalibrationCheck]:
    asked = trace.rate_bps(train.packet_bytes)
    received = np.sort(train.received_ms[train.came])
    n = len(received)
    offered = (len(train.sent_ms) - 1) * train.packet_bytes * 8e3 / max(train.span_ms, 1e-9)
    between = float(received[-1] - received[0]) if n > 1 else 0.0
    if between <= 0:
        return [report_value("rate", train.direction, asked=asked, got=0.0, n=n)]
    got = (n - 1) * train.packet_bytes * 8e3 / between
    if offered < MIN_OVERLOAD * asked or between < trace.at_ms[-1]:
        return [report_value("rate", train.direction, asked=asked, got=got, n=n)]
    tolerance = trace.largest_deviation_bits(train.packet_bytes) * 1e3 / between
    return [judge_value("rate", train.direction, asked=asked, got=got, tolerance=tolerance, n=n)]
