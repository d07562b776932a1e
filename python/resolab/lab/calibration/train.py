"""A train of packets as arrays.

For: the evaluations' common view of a probe record. Not for: judging.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from resolab.basics.records import LinkDirection, ProbeRecord

Floats: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True)
class Train:
    """Send and receive times by packet number, in ms since the first packet's sending; NaN for a lost packet."""

    direction: LinkDirection
    packet_bytes: int
    sent_ms: Floats
    received_ms: Floats

    @classmethod
    def from_record(cls, record: ProbeRecord) -> "Train":
        """Convert a probe record to arrays."""
        received = np.array([np.nan if at_ns is None else at_ns for at_ns in record.received_ns], float)
        sent = np.array(record.sent_ns, float)
        return cls(record.direction, record.packet_bytes, sent / 1e6, received[: len(sent)] / 1e6)

    @property
    def came(self) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        """True for each packet received."""
        return ~np.isnan(self.received_ms)

    @property
    def delays_ms(self) -> Floats:
        """One-way delays of the received packets, in the order of sending."""
        return (self.received_ms - self.sent_ms)[self.came]

    @property
    def lost_count(self) -> int:
        """The number of lost packets."""
        return int(np.count_nonzero(~self.came))

    @property
    def span_ms(self) -> float:
        """The time from the first sending to the last."""
        return float(self.sent_ms[-1] - self.sent_ms[0]) if len(self.sent_ms) else 0.0

    def overtaken_count(self) -> int:
        """Return the number of packets received after a packet sent later."""
        received = self.received_ms[self.came]
        if not len(received):
            return 0
        earliest_after = np.minimum.accumulate(received[::-1])[::-1]
        return int(np.count_nonzero(received[:-1] > earliest_after[1:]))
