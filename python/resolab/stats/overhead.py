"""The remaining share of an overhead: the treatment's distance from the baseline, relative to a costly reference.

For: `(median(treatment) - median(baseline)) / (median(reference) - median(baseline))`, resampled by block. Not for: the
change of the times themselves (`medians`); half of a small overhead may be negligible.
"""

import numpy as np

from resolab.stats.bootstrap import percentile
from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import PAIRS_FOR_CHANGE
from resolab.stats.sample import FloatArray, Sample

LEVEL = 0.95
BLOCKS_FOR_SHARE = PAIRS_FOR_CHANGE
"""As for the relative change, also a ratio of medians. In simulations, intervals of 5 to 7 blocks hold the share in
91.7 to 96.6 % of cases."""


def estimate_remaining_share(
    treatment: Sample, reference: Sample, baseline: Sample, *, seed: int, level: float = LEVEL
) -> Estimate:
    """Estimate the share; position i of all three is one block.

    Without a reference above the baseline there is no share. Censored values count as infinite: the share is a number
    while fewer than half of each sample are censored. With a mostly failed reference, overhead and share are unknown.
    """
    samples = (treatment, reference, baseline)
    if len({len(sample) for sample in samples}) != 1:
        raise ValueError("a share of an overhead needs blocks: samples of one length")
    size, censored = len(treatment), sum(sample.censored_count for sample in samples)
    arrays = tuple(sample.high for sample in samples)
    share = float(_share(arrays)) if size else np.nan
    if not np.isfinite(share):
        return Estimate(None, None, None, None, size, censored, level, Method.NONE)
    if size < BLOCKS_FOR_SHARE:
        return Estimate(share, share, None, None, size, censored, level, Method.NONE)
    # A share of an overhead that may be none has no interval (Fieller 1954): then the share itself says nothing.
    if percentile(arrays[1:], _overhead, level, seed)[0] <= 0:
        return Estimate(None, None, None, None, size, censored, level, Method.NONE)
    low, _ = percentile(arrays, _lowest, level, seed)
    _, high = percentile(arrays, _highest, level, seed)
    return Estimate(share, share, low, high, size, censored, level, Method.PERCENTILE)


def _overhead(costly: FloatArray, base: FloatArray, axis: int = -1) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.median(costly, axis=axis) - np.median(base, axis=axis), nan=-np.inf)


def _share(arrays: tuple[FloatArray, ...], axis: int = -1) -> FloatArray:
    own, costly, base = (np.median(values, axis=axis) for values in arrays)
    with np.errstate(invalid="ignore", divide="ignore"):
        known = (costly > base) & np.isfinite(costly)
        return np.asarray(np.where(known, (own - base) / (costly - base), np.nan))


# A resample in which there is no overhead to divide by, or none that is known, says nothing of the share: it widens
# both ends.
def _lowest(*arrays: FloatArray, axis: int = -1) -> FloatArray:
    return np.nan_to_num(_share(arrays, axis), nan=-np.inf, posinf=np.inf)


def _highest(*arrays: FloatArray, axis: int = -1) -> FloatArray:
    return np.nan_to_num(_share(arrays, axis), nan=np.inf, posinf=np.inf)
