"""Statistics: arrays in, numbers with their uncertainty out.

For: medians, quantiles, paired differences, relative changes, shifts, effect sizes, tests; censored values are kept.
Definitions and sources: docs/method/statistics.md. Not for: knowing the source of the arrays (no other package of
resolab is imported here); closed forms (`protocols`).
"""

from resolab.stats.adjusted import ADJUSTABLE_FROM, MOST_VARIANCE_LEFT, estimate_adjusted_difference, variance_ratio
from resolab.stats.break_even import (
    BATCHES_FOR_CROSSING,
    BATCHES_FOR_MEANS,
    Amortisation,
    BatchedMean,
    amortisation,
    break_even,
)
from resolab.stats.clusters import CLUSTERS_NEEDED, estimate_clustered_median, median_of_clusters
from resolab.stats.dominance import cliffs_delta
from resolab.stats.equivalence import Equivalence, EquivalenceTest, equivalence
from resolab.stats.estimate import Estimate, Method
from resolab.stats.false_alarms import FalseAlarms, clopper_pearson, false_alarms
from resolab.stats.medians import (
    PAIRS_FOR_CHANGE,
    estimate_paired_difference,
    median,
    pairs,
    pairs_for_interval,
    relative_change,
    subtract_pairs,
)
from resolab.stats.order import LEVEL, median_interval_ranks, quantile
from resolab.stats.overhead import estimate_remaining_share
from resolab.stats.power import (
    BlocksNeeded,
    IntervalGoal,
    MarginSides,
    aim_at_width,
    aim_within_margin,
    blocks_needed,
    excludes_zero,
    make_normal_differences,
    smallest_margin,
)
from resolab.stats.power import IntervalRule as PowerRule
from resolab.stats.proportion import proportion
from resolab.stats.quantile_shift import QuantileDifference, pairs_for_quantile, quantile_differences
from resolab.stats.replication import PrintedChange, Replication, make_printed_change, replication
from resolab.stats.sample import FloatArray, Sample, ecdf
from resolab.stats.sequence import (
    MedianSequence,
    change_at_any_look,
    difference_at_any_look,
    lower_rank,
    median_at_any_look,
)
from resolab.stats.share_sequence import share_at_any_look
from resolab.stats.shift import hodges_lehmann
from resolab.stats.significance import (
    SignificantShare,
    compute_paired_p_value,
    holm,
    least_paired_p_value,
    pairs_for_significance,
    significant_share,
    two_sample_p_value,
)
from resolab.stats.slope import compute_slope, slope_over_blocks
from resolab.stats.spread import measure_spread
from resolab.stats.stopping import STOPPING_LEVEL, STOPPING_MIN_BLOCKS, width_reached
from resolab.stats.tail_share import TailShares, compare_shares_beyond
from resolab.stats.two_medians import change_of_medians, difference_of_medians

__all__ = [
    "ADJUSTABLE_FROM",
    "BATCHES_FOR_CROSSING",
    "BATCHES_FOR_MEANS",
    "CLUSTERS_NEEDED",
    "LEVEL",
    "MOST_VARIANCE_LEFT",
    "PAIRS_FOR_CHANGE",
    "STOPPING_LEVEL",
    "STOPPING_MIN_BLOCKS",
    "Amortisation",
    "BatchedMean",
    "BlocksNeeded",
    "Equivalence",
    "EquivalenceTest",
    "Estimate",
    "FalseAlarms",
    "FloatArray",
    "IntervalGoal",
    "MarginSides",
    "MedianSequence",
    "Method",
    "PowerRule",
    "PrintedChange",
    "QuantileDifference",
    "Replication",
    "Sample",
    "SignificantShare",
    "TailShares",
    "aim_at_width",
    "aim_within_margin",
    "amortisation",
    "blocks_needed",
    "break_even",
    "change_at_any_look",
    "change_of_medians",
    "cliffs_delta",
    "clopper_pearson",
    "compare_shares_beyond",
    "compute_paired_p_value",
    "compute_slope",
    "difference_at_any_look",
    "difference_of_medians",
    "ecdf",
    "equivalence",
    "estimate_adjusted_difference",
    "estimate_clustered_median",
    "estimate_paired_difference",
    "estimate_remaining_share",
    "excludes_zero",
    "false_alarms",
    "hodges_lehmann",
    "holm",
    "least_paired_p_value",
    "lower_rank",
    "make_normal_differences",
    "make_printed_change",
    "measure_spread",
    "median",
    "median_at_any_look",
    "median_interval_ranks",
    "median_of_clusters",
    "pairs",
    "pairs_for_interval",
    "pairs_for_quantile",
    "pairs_for_significance",
    "proportion",
    "quantile",
    "quantile_differences",
    "relative_change",
    "replication",
    "share_at_any_look",
    "significant_share",
    "slope_over_blocks",
    "smallest_margin",
    "subtract_pairs",
    "two_sample_p_value",
    "variance_ratio",
    "width_reached",
]
