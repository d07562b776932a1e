"""The rules of other tools for "slower", and ours, on two samples of load times.

For: `alike`. Not for: the tools themselves; each rule is its documented statistic, written again in a few lines.

Sources:

- sitespeed.io, plugin `compare`: one-sided Mann-Whitney test, p < 0.05.
- Mozilla PerfCompare: two-sided Mann-Whitney test, p < 0.05.
- Chrome Pinpoint: the smaller p of Mann-Whitney and Kolmogorov-Smirnov tests, at most 0.01.
- Mozilla Perfherder: t above 7 and a change above 2 %. Here: Welch's t, without Perfherder's weights.
- Lighthouse CI: the best run decides. Budgets: the median decides.
"""

from collections.abc import Callable, Mapping

import numpy as np
import scipy

from resolab.stats import FloatArray

SlowerRule = Callable[[FloatArray, FloatArray], bool]
"""A rule over the times of the baseline and the treatment, in ms and in the order of blocks: True for "slower"."""
BUDGET = 1.05
"""A budget of 5 % above the baseline's median."""


def _p_greater(baseline: FloatArray, treatment: FloatArray) -> float:
    return float(scipy.stats.mannwhitneyu(treatment, baseline, alternative="greater").pvalue)


def _p_two_sided(baseline: FloatArray, treatment: FloatArray) -> float:
    return float(scipy.stats.mannwhitneyu(treatment, baseline).pvalue)


def _is_above(baseline: FloatArray, treatment: FloatArray) -> bool:
    return bool(np.median(treatment) > np.median(baseline))


def _pinpoint(baseline: FloatArray, treatment: FloatArray) -> bool:
    smirnov = float(scipy.stats.ks_2samp(treatment, baseline).pvalue)
    return min(_p_two_sided(baseline, treatment), smirnov) <= 0.01 and _is_above(baseline, treatment)


def _perfherder(baseline: FloatArray, treatment: FloatArray) -> bool:
    t = float(scipy.stats.ttest_ind(treatment, baseline, equal_var=False).statistic)
    return t > 7 and bool(np.mean(treatment) >= 1.02 * np.mean(baseline))


def _signed_rank(baseline: FloatArray, treatment: FloatArray) -> bool:
    if not np.any(treatment - baseline):
        return False
    p_value = float(scipy.stats.wilcoxon(treatment - baseline).pvalue)
    return p_value < 0.05 and bool(np.median(treatment - baseline) > 0)


def _over_budget(choose: Callable[[FloatArray], np.floating], count: int) -> SlowerRule:
    return lambda baseline, treatment: bool(choose(treatment[:count]) > BUDGET * np.median(baseline))


PEER_RULES: Mapping[str, SlowerRule] = {
    "sitespeed.io: Mann-Whitney, one-sided, p < 0.05": lambda old, new: _p_greater(old, new) < 0.05,
    "PerfCompare: Mann-Whitney, two-sided, p < 0.05": lambda old, new: (
        _p_two_sided(old, new) < 0.05 and _is_above(old, new)
    ),
    "the same with 6 loads a side": lambda old, new: (
        _p_two_sided(old[:6], new[:6]) < 0.05 and _is_above(old[:6], new[:6])
    ),
    "Pinpoint, one look": _pinpoint,
    "Perfherder: t above 7 and 2 %": _perfherder,
    "signed rank of pairs, two-sided, p < 0.05": _signed_rank,
    "budget of 5 %, a single run": _over_budget(np.median, 1),
    "budget of 5 %, median of 3": _over_budget(np.median, 3),
    "budget of 5 %, best of 3 (Lighthouse CI)": _over_budget(np.min, 3),
    "median of 5 against median of 5, 5 %": lambda old, new: bool(np.median(new[:5]) > BUDGET * np.median(old[:5])),
}
"""Every rule calls a treatment slower or lets it pass."""
