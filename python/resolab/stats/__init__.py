"""Statistics: arrays in, numbers with their uncertainty out.

For: medians, quantiles, paired differences, relative changes, shifts, effect sizes, tests, restricted means; censored
values kept. Definitions and sources: docs/method/statistics.md.
Not for: knowing where the arrays come from, no other room of resolab is imported here; closed forms (`protocols`).
"""

from resolab.stats.break_even import Amortisation, BatchedMean, amortisation, break_even
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
    least_paired_p_value,
    paired_p_value,
    pairs_for_significance,
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
    "differences_of",
    "ecdf",
    "hodges_lehmann",
    "holm",
    "least_paired_p_value",
    "median",
    "median_interval_ranks",
    "paired_difference",
    "paired_p_value",
    "pairs",
    "pairs_for_significance",
    "proportion",
    "quantile",
    "relative_change",
    "remaining_share",
    "restricted_mean",
    "significant_share",
    "two_sample_p_value",
    "width_reached",
]
