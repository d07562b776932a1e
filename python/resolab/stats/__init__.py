"""Statistics: arrays in, numbers with their uncertainty out.

For: medians, quantiles, paired differences, relative changes, shifts, effect sizes, tests, restricted means, closed
forms; censored values kept. Definitions and sources: docs/method/statistics.md.
Not for: knowing where the arrays come from; no other room of resolab is imported here.
"""

from resolab.stats.break_even import Amortisation, BatchedMean, amortisation, break_even
from resolab.stats.closed_form import (
    cold_exchange_round_trips,
    in_round_trips,
    lookup_round_trips,
    page_handshake_round_trips,
    remainder_ms,
    wire_time_ms,
)
from resolab.stats.dominance import cliffs_delta
from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import differences_of, median, paired_difference, pairs, relative_change
from resolab.stats.order import LEVEL, median_interval_ranks, quantile
from resolab.stats.overhead import remaining_share
from resolab.stats.proportion import proportion
from resolab.stats.restricted import restricted_mean
from resolab.stats.sample import Sample, ecdf
from resolab.stats.shift import hodges_lehmann
from resolab.stats.significance import (
    SignificantShare,
    clopper_pearson,
    holm,
    paired_p_value,
    significant_share,
    two_sample_p_value,
)
from resolab.stats.stopping import STOPPING_LEVEL, STOPPING_MIN_BLOCKS, width_reached
from resolab.stats.two_medians import change_of_medians

__all__ = [
    "LEVEL",
    "STOPPING_LEVEL",
    "STOPPING_MIN_BLOCKS",
    "Amortisation",
    "BatchedMean",
    "Estimate",
    "Method",
    "Sample",
    "SignificantShare",
    "amortisation",
    "break_even",
    "change_of_medians",
    "cliffs_delta",
    "clopper_pearson",
    "cold_exchange_round_trips",
    "differences_of",
    "ecdf",
    "hodges_lehmann",
    "holm",
    "in_round_trips",
    "lookup_round_trips",
    "median",
    "median_interval_ranks",
    "page_handshake_round_trips",
    "paired_difference",
    "paired_p_value",
    "pairs",
    "proportion",
    "quantile",
    "relative_change",
    "remainder_ms",
    "remaining_share",
    "restricted_mean",
    "significant_share",
    "two_sample_p_value",
    "width_reached",
    "wire_time_ms",
]
