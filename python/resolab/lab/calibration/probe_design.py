"""The probes of each direction, and their durations.

For: numbers computed from a profile and a time budget. Not for: sending the probes.
"""

import math
from dataclasses import dataclass

from resolab.basics.records import DirectionProfile
from resolab.lab.calibration.requested_values import (
    DroptailLimit,
    LossModel,
    compute_charged_bytes,
    serialisation_ms,
    usable_rate_bps,
)
from resolab.lab.calibration.spread import DelaySpread

SMALL_PACKET_BYTES = 60
SPARSE_INTERVAL_US = 2_500.0
SPARSE_SHARE = 0.1
"""Share of the rate, low enough to keep probes from queueing behind each other."""
DENSE_INTERVAL_US = 250.0
DENSE_SHARE = 0.6
OVERLOAD = 1.3
LARGEST_OVERLOAD = 3.0
SATURATION_PACKETS_COUNT = 400
SHORTEST_SATURATION_INTERVAL_US = 15.0
SILENCE_MS = 500.0
INTERVALS_WANTED = 25
"""The number of independent delay values wanted in a train."""

SPARSE_PART, LONGEST_SPARSE_PART = 0.3, 0.6
"""Shares of the time budget; the warm-up's value below is a share of the transfer's time."""
DENSE_PART, SATURATION_PART, TRANSFER_PART = 0.15, 0.17, 0.16
WARM_UP_PART = 0.3
WARM_UP_ROUND_TRIPS = 15
TRANSFER_SEGMENTS_COUNT, SEGMENT_BITS, LONGEST_TRANSFER = 100, 12_000, 3.0
"""A slow link gets more time for its transfer, up to a limit."""
PACKETS_LIMIT = 500_000


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """The parameters of a train, before sending."""

    packets_count: int
    packet_bytes: int
    interval_us: float
    silence_ms: int

    @property
    def duration_s(self) -> float:
        """The time until the last packet is sent."""
        return self.packets_count * self.interval_us / 1e6


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """The parameters of a transfer, before sending."""

    warm_up_ms: int
    seconds: float

    @property
    def duration_s(self) -> float:
        """The time until the end of the transfer."""
        return self.warm_up_ms / 1e3 + self.seconds


def sparse_train(way: DirectionProfile, seconds: float) -> TrainPlan:
    """Plan small packets far apart, for delay and order; the train is longer when the delay varies slowly."""
    spread = DelaySpread.from_direction(way)
    duration_s = SPARSE_PART * seconds
    if spread is not None and not spread.per_packet:
        wanted_s = INTERVALS_WANTED * spread.interval_ms / 1e3
        duration_s = min(LONGEST_SPARSE_PART * seconds, max(duration_s, wanted_s))
    return _small(way, duration_s, SPARSE_INTERVAL_US, SPARSE_SHARE)


def dense_train(way: DirectionProfile, seconds: float) -> TrainPlan | None:
    """Plan many small packets, for loss; return `None` for a profile without loss."""
    if LossModel.from_direction(way).ratio == 0.0:
        return None
    return _small(way, DENSE_PART * seconds, DENSE_INTERVAL_US, DENSE_SHARE)


def saturation_train(way: DirectionProfile, mtu_bytes: int, seconds: float) -> TrainPlan | None:
    """Plan packets faster than the link, to keep the queue full most of the time; return `None` without a rate."""
    rate_bps = usable_rate_bps(way)
    if rate_bps is None:
        return None
    duration_s = SATURATION_PART * seconds
    whole = rate_bps * OVERLOAD * duration_s / 8 / SATURATION_PACKETS_COUNT
    packet_bytes = max(min(mtu_bytes, 200), min(mtu_bytes, int(whole)))
    overload = _overload(way, packet_bytes, rate_bps, duration_s) / (1 - LossModel.from_direction(way).ratio)
    interval_us = compute_charged_bytes(way, packet_bytes) * 8e6 / (rate_bps * overload)
    if interval_us < SHORTEST_SATURATION_INTERVAL_US:
        return None
    count = min(PACKETS_LIMIT, math.ceil(duration_s * 1e6 / interval_us))
    return TrainPlan(max(count, 20), packet_bytes, interval_us, _silence_ms(way, packet_bytes))


def transfer(way: DirectionProfile, back: DirectionProfile, seconds: float) -> TransferPlan:
    """Plan a TCP connection, with counting after slow start."""
    duration_s = TRANSFER_PART * seconds
    round_trip_ms = way.one_way_delay_ms + back.one_way_delay_ms
    warm_up_ms = max(WARM_UP_PART * duration_s * 1e3, WARM_UP_ROUND_TRIPS * round_trip_ms)
    counted_s, rate_bps = (1 - WARM_UP_PART) * duration_s, usable_rate_bps(way)
    if rate_bps is not None:
        wanted_s = TRANSFER_SEGMENTS_COUNT * SEGMENT_BITS / rate_bps
        counted_s = min(LONGEST_TRANSFER * counted_s, max(counted_s, wanted_s))
    return TransferPlan(round(warm_up_ms), counted_s)


def drain_s(way: DirectionProfile) -> float:
    """Return the time a filled link needs to empty, including the link's delay."""
    rate_bps = usable_rate_bps(way)
    queue = DroptailLimit.from_direction(way, 1)
    waiting_s = queue.limit_bytes * 8 / rate_bps if queue and rate_bps else 0.0
    return min(30.0, waiting_s) + _longest_delay_ms(way) / 1e3


def _small(way: DirectionProfile, duration_s: float, interval_us: float, share: float) -> TrainPlan:
    rate_bps = usable_rate_bps(way)
    if rate_bps is not None:
        interval_us = max(interval_us, compute_charged_bytes(way, SMALL_PACKET_BYTES) * 8e6 / (rate_bps * share))
    count = max(20, math.ceil(duration_s * 1e6 / interval_us))
    return TrainPlan(count, SMALL_PACKET_BYTES, interval_us, _silence_ms(way, SMALL_PACKET_BYTES))


def _overload(way: DirectionProfile, packet_bytes: int, rate_bps: float, duration_s: float) -> float:
    """Return the overload filling the queue in a third of the time."""
    queue = DroptailLimit.from_direction(way, packet_bytes)
    if queue is None:
        return OVERLOAD
    wanted = 1 + queue.limit_bytes * 8 / rate_bps / (duration_s / 3)
    return min(LARGEST_OVERLOAD, max(OVERLOAD, wanted))


def _longest_delay_ms(way: DirectionProfile) -> float:
    spread = DelaySpread.from_direction(way)
    return way.one_way_delay_ms if spread is None else spread.largest_ms()


def _silence_ms(way: DirectionProfile, packet_bytes: int) -> int:
    return round(SILENCE_MS + _longest_delay_ms(way) + 2 * serialisation_ms(way, packet_bytes))
