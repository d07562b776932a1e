"""The values requested by one direction of a profile, as numbers for comparison.

For: times, shares and rates computed from the profile alone. Not for: the variation of the delay (`spread`).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DirectionProfile

OPPORTUNITY_BYTES = 1504
TRACE_OVERHEAD_BYTES = 4
"""A packet takes up its length plus 4 bytes of a trace's opportunity of 1504 bytes (mahimahi)."""


def compute_charged_bytes(way: DirectionProfile, packet_bytes: int) -> int:
    """Return the bytes counted by the rate for a packet."""
    return packet_bytes + (way.packet_overhead_bytes or 0)


def serialisation_ms(way: DirectionProfile, packet_bytes: int) -> float:
    """Return the serialisation time of a packet on the link, in ms."""
    return 0.0 if way.rate_bps is None else compute_charged_bytes(way, packet_bytes) * 8e3 / way.rate_bps


def usable_rate_bps(way: DirectionProfile) -> float | None:
    """Return the link's long-term rate in bits per second; `None` without a limit."""
    if way.trace_file is not None:
        return TraceOpportunities.read(way.trace_file).rate_bps(OPPORTUNITY_BYTES - TRACE_OVERHEAD_BYTES)
    return way.rate_bps


@dataclass(frozen=True, slots=True)
class LossModel:
    """The share of packets lost on entry, and the variance of their count per packet."""

    ratio: float
    variance_per_packet: float

    @classmethod
    def from_direction(cls, way: DirectionProfile) -> "LossModel":
        """Combine independent loss and bursts; losses within a burst are correlated, which inflates the variance."""
        kept = 1.0 - way.loss_ratio
        burst = way.gilbert_elliott
        if burst is None:
            return cls(way.loss_ratio, way.loss_ratio * kept)
        bad_loss = 1.0 if burst.bad_loss_ratio is None else burst.bad_loss_ratio
        good_loss = burst.good_loss_ratio or 0.0
        moves = burst.good_to_bad_ratio + burst.bad_to_good_ratio
        # A chain that never leaves its first, good state.
        bad = burst.good_to_bad_ratio / moves if burst.good_to_bad_ratio else 0.0
        ratio = 1.0 - kept * (1.0 - (1.0 - bad) * good_loss - bad * bad_loss)
        # Covariance of neighbours k apart is this times (1 - moves)^k; summed over both sides.
        shared = (kept * (bad_loss - good_loss)) ** 2 * bad * (1.0 - bad)
        tail = 2.0 * shared * (1.0 - moves) / moves if moves else 0.0
        return cls(ratio, max(0.0, ratio * (1.0 - ratio) + tail))


@dataclass(frozen=True, slots=True)
class DroptailLimit:
    """The limit of a droptail queue, in whole packets of equal length."""

    limit_bytes: int

    @classmethod
    def from_direction(cls, way: DirectionProfile, packet_bytes: int) -> "DroptailLimit | None":
        """Return the tighter of the limits in bytes and in packets; `None` without a limit."""
        limits = []
        if way.queue_bytes is not None:
            limits.append(way.queue_bytes // packet_bytes)
        if way.queue_packets is not None:
            limits.append(way.queue_packets)
        return cls(min(limits) * packet_bytes) if limits else None


@dataclass(frozen=True, slots=True)
class TraceOpportunities:
    """A trace's delivery opportunities, each as a millisecond of the trace's period."""

    at_ms: tuple[int, ...]

    @classmethod
    def read(cls, file: str) -> "TraceOpportunities":
        """Read the opportunities from a trace file."""
        try:
            return cls(tuple(int(line) for line in Path(file).read_text("ascii").split()))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"failed to read trace {file}: {error}") from error

    def rate_bps(self, packet_bytes: int) -> float:
        """Return the mean rate of IP bits for packets of the given length."""
        usable = OPPORTUNITY_BYTES * packet_bytes / (packet_bytes + TRACE_OVERHEAD_BYTES)
        return len(self.at_ms) * usable * 8e3 / self.at_ms[-1]

    def largest_deviation_bits(self, packet_bytes: int) -> float:
        """Return the largest deviation of any section of the trace from the mean rate, in bits."""
        at_ms = np.array(self.at_ms, float)
        before = np.arange(len(at_ms)) - at_ms * len(at_ms) / at_ms[-1]
        after = before + 1
        range_count = max(float(after.max()), 0.0) - min(float(before.min()), 0.0)
        return (range_count + 1) * OPPORTUNITY_BYTES * 8 * packet_bytes / (packet_bytes + TRACE_OVERHEAD_BYTES)
