"""Which configuration is fastest, by how much, and whether that is noise.

For: verdicts on page load times, from pairs of loads of one page in one round. Not for: showing them.

The difference from `local` (else the first) is the shift of the paired differences (Hodges-Lehmann), its interval by
signed ranks; with loads that failed, which took at least their limit, it is their median, which a few of those do not
move. All intervals of a visit, from the baseline and from the fastest, hold together at 95 % (Tukey's range); they are
of these very pages, whose rounds are what was sampled, and say nothing of other ones. The first round stands apart
where there are more: in it resolvers ask for what they hold afterwards.
"""

import enum
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from resolab import stats
from resolab.visit.configurations import LOCAL, Configuration
from resolab.visit.fitting import FIRST_ROUNDS, joint_level
from resolab.visit.loaded import Loaded

MARGIN_MS = 10.0
"""Configurations that differ by less are called alike, where that can be shown; set before anything is loaded."""

Key = tuple[str, int]
"""Page and round."""


class Verdict(enum.StrEnum):
    """What can be said of a configuration against the one it is compared with."""

    BASELINE = "baseline"
    FASTER = "faster"
    SLOWER = "slower"
    ALIKE = "alike"
    """The whole interval is within the margin, whatever noise there is."""
    NOISE = "noise"
    """The interval has 0 and is not narrow enough for `alike`."""
    TOO_FEW = "too_few"
    """Too few pairs for an interval."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One configuration in numbers; times in milliseconds, None where there is none."""

    configuration: Configuration
    place: int | None
    """From 1, the fastest; None without any load that counts."""
    loads_count: int
    failures: Mapping[str, int]
    median_plt_ms: float | None
    """Of the rounds that are compared; infinite where most loads failed."""
    first_plt_ms: float | None
    """Median of the first round, where it stands apart."""
    page_plt_ms: Mapping[str, float]
    """Median of each page."""
    difference: stats.Estimate | None
    """From the baseline."""
    behind: stats.Estimate | None
    """From the fastest; None for itself."""
    verdict: Verdict
    opening_ms: float | None
    look_up_ms: float | None
    ping_ms: float | None

    @property
    def is_told_from_fastest(self) -> bool:
        """Whether it is slower than the fastest beyond noise."""
        return self.behind is not None and self.behind.verdict > 0


def baseline_of(compared: Sequence[Configuration]) -> Configuration:
    """Return `local` where it is compared, else the first."""
    return next((one for one in compared if one.name == LOCAL), compared[0])


def summaries(
    compared: Sequence[Configuration], loads: Sequence[Loaded], *, margin_ms: float = MARGIN_MS
) -> list[Summary]:
    """Sum up each configuration, the fastest first; those without a load that counts come last."""
    apart = _first_apart(loads)
    later = [one for one in loads if not (apart and one.visit.round < FIRST_ROUNDS)]
    baseline = baseline_of(compared)
    by_key = {one: _by_key(later, one) for one in compared}
    level = joint_level(len(compared))
    differences = {one: _difference(by_key[one], by_key[baseline], level) for one in compared if one != baseline}
    ranked = _ranked(compared, by_key, differences)
    fastest = ranked[0] if ranked else None
    found = []
    for one in [*ranked, *(other for other in compared if other not in ranked)]:
        of_it = [load for load in loads if load.visit.configuration == one]
        behind = None if fastest is None or one == fastest else _difference(by_key[one], by_key[fastest], level)
        difference = differences.get(one)
        found.append(
            Summary(
                configuration=one,
                place=ranked.index(one) + 1 if one in ranked else None,
                loads_count=len(of_it),
                failures=Counter(load.failure.value for load in of_it if load.failure is not None),
                median_plt_ms=_median(list(by_key[one].values())),
                first_plt_ms=_median([load for load in of_it if load.visit.round < FIRST_ROUNDS]) if apart else None,
                page_plt_ms=_by_page(by_key[one]),
                difference=difference,
                behind=behind,
                verdict=Verdict.BASELINE if one == baseline else _verdict(difference, margin_ms),
                opening_ms=_middle([ms for load in of_it for ms in load.opening_ms]),
                look_up_ms=_middle([ms for load in of_it for ms in load.look_up_ms]),
                ping_ms=_middle([ms for load in of_it for ms in load.ping_ms]),
            )
        )
    return found


def _first_apart(loads: Sequence[Loaded]) -> bool:
    return any(one.visit.round >= FIRST_ROUNDS for one in loads)


def _by_key(loads: Sequence[Loaded], configuration: Configuration) -> dict[Key, Loaded]:
    of_it = [one for one in loads if one.visit.configuration == configuration and one.counts]
    return {(one.visit.url, one.visit.round): one for one in of_it}


def _ranked(
    compared: Sequence[Configuration],
    by_key: Mapping[Configuration, Mapping[Key, Loaded]],
    differences: Mapping[Configuration, stats.Estimate | None],
) -> list[Configuration]:
    """Sort by the difference from the baseline, the baseline's being 0; without one by the median."""

    def key(one: Configuration) -> tuple[float, float]:
        difference, median = differences.get(one), _median(list(by_key[one].values()))
        # Of a bound, as most loads failed, the lower end: the configuration was at least so much slower.
        shift = 0.0 if difference is None else difference.value if difference.value is not None else difference.low
        return (0.0 if shift is None else shift), (np.inf if median is None else median)

    having = [one for one in compared if by_key[one]]
    comparable = all(differences.get(one) is not None for one in having if one in differences)
    return sorted(having, key=key if comparable else lambda one: (*key(one)[1:], 0.0))


def _difference(treatment: Mapping[Key, Loaded], baseline: Mapping[Key, Loaded], level: float) -> stats.Estimate | None:
    """Estimate the shift of the pairs there are, or their median where some are bounds."""
    keys = sorted(treatment.keys() & baseline.keys())
    if not keys:
        return None
    differences = stats.differences_of(_sample(treatment, keys), _sample(baseline, keys))
    if differences.is_exact:
        return stats.hodges_lehmann(differences, level=level)
    return _of_two_ends(stats.median(differences, level=level))


def _of_two_ends(found: stats.Estimate) -> stats.Estimate:
    """Take an interval that has one end only, for want of pairs, as none."""
    if found.n >= _pairs_for_median(found.level):
        return found
    return replace(found, ci_low=None, ci_high=None, method=stats.Method.NONE)


def _pairs_for_median(level: float) -> int:
    """Return the fewest pairs whose range holds the median at that level, by a hair less at the rounding of both."""
    return math.ceil(1 - math.log2(1 - level) - 1e-9)


def _verdict(difference: stats.Estimate | None, margin_ms: float) -> Verdict:
    """Say what the interval says, so that all verdicts hold together as the intervals do."""
    if difference is None or difference.ci_low is None or difference.ci_high is None:
        return Verdict.TOO_FEW
    if difference.verdict:
        return Verdict.SLOWER if difference.verdict > 0 else Verdict.FASTER
    is_within = -margin_ms < difference.ci_low and difference.ci_high < margin_ms
    return Verdict.ALIKE if is_within else Verdict.NOISE


def _sample(loads: Mapping[Key, Loaded], keys: Sequence[Key]) -> stats.Sample:
    chosen = [loads[key] for key in keys]
    return stats.Sample.censored([one.plt_ms for one in chosen], [one.limit_ms for one in chosen])


def _median(loads: Sequence[Loaded]) -> float | None:
    return _middle([np.inf if one.plt_ms is None else one.plt_ms for one in loads if one.counts])


def _middle(values: Sequence[float]) -> float | None:
    """Return the median, of an even number with failures among them one that was measured or infinite."""
    if not values:
        return None
    low, high = (float(np.quantile(values, 0.5, method=which)) for which in ("lower", "higher"))
    return (low + high) / 2 if np.isfinite(high) else high


def _by_page(loads: Mapping[Key, Loaded]) -> dict[str, float]:
    of_page: dict[str, list[Loaded]] = {}
    for (url, _), one in loads.items():
        of_page.setdefault(url, []).append(one)
    medians = {url: _median(some) for url, some in of_page.items()}
    return {url: median for url, median in medians.items() if median is not None}
