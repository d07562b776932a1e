"""The spread of paired differences, without an influence of tails.

For: comparing a run's noise with a quiet machine's. Not for: intervals (`order`, `sequence`).
"""

import numpy as np

from resolab.stats.sample import Sample

MAD_TO_SD = 1.4826
"""The standard deviation of a normal distribution over its median absolute deviation."""


def measure_spread(differences: Sample) -> float | None:
    """Return 1.4826 times the median absolute deviation of the known values; `None` below two of them."""
    known = differences.low[np.isfinite(differences.low) & (differences.low == differences.high)]
    return float(MAD_TO_SD * np.median(np.abs(known - np.median(known)))) if len(known) > 1 else None
