"""A train of packets as arrays.

For: the view of a probe record that the evaluations share. Not for: judging.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from resolab.records import LinkDirection, ProbeRecord

Floats: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True)
class Train:
    """Milliseconds since the first packet's sending, by packet number; NaN: it did not come."""

    direction: LinkDirection
    packet_bytes: int
    sent_ms: Floats
    received_ms: Floats

    @classmethod
    def of(cls, record: ProbeRecord) -> "Train":
        """Read a record."""
        received = np.array([np.nan if at_ns is None else at_ns for at_ns in record.received_ns], float)
        sent = np.array(record.sent_ns, float)
        return cls(record.direction, record.packet_bytes, sent / 1e6, received[: len(sent)] / 1e6)

    @property
    def came(self) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        """Which packets came."""
        return ~np.isnan(self.received_ms)

    @property
    def delays_ms(self) -> Floats:
        """One-way delays of the packets that came, in the order of sending."""
        return (self.received_ms - self.sent_ms)[self.came]

    @property
    def lost_count(self) -> int:
        """How many did not come."""
        return int(np.count_nonzero(~self.came))

    @property
    def span_ms(self) -> float:
        """From the first sending to the last."""
        return float(self.sent_ms[-1] - self.sent_ms[0]) if len(self.sent_ms) else 0.0

    def overtaken_count(self) -> int:
        """Packets that came after one sent later."""
        received = self.received_ms[self.came]
        if not len(received):
            return 0
        earliest_after = np.minimum.accumulate(received[::-1])[::-1]
        return int(np.count_nonzero(received[:-1] > earliest_after[1:]))
