"""Statistics: arrays in, numbers with their uncertainty out.

For: medians, paired differences, relative changes, empirical distributions, closed forms; censored values kept.
Not for: knowing where the arrays come from; no other room of resolab is imported here.
"""

from resolab.stats.closed_form import (
    cold_exchange_round_trips,
    in_round_trips,
    lookup_round_trips,
    page_handshake_round_trips,
    remainder_ms,
    wire_time_ms,
)
from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import median, paired_difference, pairs, relative_change
from resolab.stats.sample import Sample, ecdf

__all__ = [
    "Estimate",
    "Method",
    "Sample",
    "cold_exchange_round_trips",
    "ecdf",
    "in_round_trips",
    "lookup_round_trips",
    "median",
    "page_handshake_round_trips",
    "paired_difference",
    "pairs",
    "relative_change",
    "remainder_ms",
    "wire_time_ms",
]
