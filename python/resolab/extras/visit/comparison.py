"""Rank configurations by page load time, with differences and verdicts about noise.

For: verdicts on page load times, from pairs of loads of the same page in the same round. Not for: showing the verdicts.

The difference from `local` (otherwise from the first configuration) is the shift of the paired differences
(Hodges-Lehmann), with an interval by signed ranks. A failed load took at least the limit. With failed loads the
difference is the median of the paired differences, as a few such bounds do not move the median. All intervals of a
visit, from the baseline and from the fastest, hold together at 95 % (Tukey's range). The intervals are for these very
pages, with rounds as the sample; they say nothing about other pages. With several rounds, the first round is kept
apart: in the first round resolvers ask for names held in their cache afterwards.
"""

import enum
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from resolab import stats
from resolab.extras.visit.configurations import LOCAL, ResolverConfiguration
from resolab.extras.visit.load_budget import FIRST_ROUNDS, joint_level
from resolab.extras.visit.load_result import VisitLoad

MARGIN_MS = 10.0
"""The equivalence margin, in ms, set before any load. Configurations with a difference shown to be smaller are called
alike."""

Key = tuple[str, int]
"""The key of a load: page and round."""


class VisitVerdict(enum.StrEnum):
    """The conclusion about a configuration, compared with the baseline."""

    BASELINE = "baseline"
    FASTER = "faster"
    SLOWER = "slower"
    ALIKE = "alike"
    """The whole interval is within the margin, in spite of any noise."""
    NOISE = "noise"
    """The interval contains 0 and is too wide for `alike`."""
    TOO_FEW = "too_few"
    """There are too few pairs for an interval."""


@dataclass(frozen=True, slots=True)
class ConfigurationSummary:
    """The numbers of a configuration; times in milliseconds, `None` when there is no value."""

    configuration: ResolverConfiguration
    place: int | None
    """The rank from 1, the fastest; `None` without any valid load."""
    loads_count: int
    failures: Mapping[str, int]
    median_plt_ms: float | None
    """The median page load time of the compared rounds, in ms; infinite when most loads failed."""
    first_plt_ms: float | None
    """The median page load time of the first round, in ms, when the first round is kept apart."""
    page_plt_ms: Mapping[str, float]
    """The median page load time of each page, in ms."""
    difference: stats.Estimate | None
    """The difference from the baseline."""
    behind: stats.Estimate | None
    """The difference from the fastest configuration; `None` for the fastest itself."""
    verdict: VisitVerdict
    opening_ms: float | None
    look_up_ms: float | None
    ping_ms: float | None

    @property
    def is_told_from_fastest(self) -> bool:
        """Return True when the configuration is slower than the fastest beyond noise."""
        return self.behind is not None and self.behind.verdict > 0


def choose_baseline(compared: Sequence[ResolverConfiguration]) -> ResolverConfiguration:
    """Return `local` when compared, otherwise the first configuration."""
    return next((one for one in compared if one.name == LOCAL), compared[0])


def summaries(
    compared: Sequence[ResolverConfiguration], loads: Sequence[VisitLoad], *, margin_ms: float = MARGIN_MS
) -> list[ConfigurationSummary]:
    """Summarise each configuration, the fastest first; configurations without a valid load come last."""
    apart = _first_apart(loads)
    later = [one for one in loads if not (apart and one.visit.round < FIRST_ROUNDS)]
    baseline = choose_baseline(compared)
    by_key = {one: _index_by_key(later, one) for one in compared}
    level = joint_level(len(compared))
    differences = {one: _difference(by_key[one], by_key[baseline], level) for one in compared if one != baseline}
    ranked = _rank(compared, by_key, differences)
    fastest = ranked[0] if ranked else None
    found = []
    for one in [*ranked, *(other for other in compared if other not in ranked)]:
        of_it = [load for load in loads if load.visit.configuration == one]
        behind = None if fastest is None or one == fastest else _difference(by_key[one], by_key[fastest], level)
        difference = differences.get(one)
        found.append(
            ConfigurationSummary(
                configuration=one,
                place=ranked.index(one) + 1 if one in ranked else None,
                loads_count=len(of_it),
                failures=Counter(load.failure.value for load in of_it if load.failure is not None),
                median_plt_ms=_median(list(by_key[one].values())),
                first_plt_ms=_median([load for load in of_it if load.visit.round < FIRST_ROUNDS]) if apart else None,
                page_plt_ms=_median_by_page(by_key[one]),
                difference=difference,
                behind=behind,
                verdict=VisitVerdict.BASELINE if one == baseline else _verdict(difference, margin_ms),
                opening_ms=_middle([ms for load in of_it for ms in load.opening_ms]),
                look_up_ms=_middle([ms for load in of_it for ms in load.look_up_ms]),
                ping_ms=_middle([ms for load in of_it for ms in load.ping_ms]),
            )
        )
    return found


def _first_apart(loads: Sequence[VisitLoad]) -> bool:
    return any(one.visit.round >= FIRST_ROUNDS for one in loads)


def _index_by_key(loads: Sequence[VisitLoad], configuration: ResolverConfiguration) -> dict[Key, VisitLoad]:
    of_it = [one for one in loads if one.visit.configuration == configuration and one.counts]
    return {(one.visit.url, one.visit.round): one for one in of_it}


def _rank(
    compared: Sequence[ResolverConfiguration],
    by_key: Mapping[ResolverConfiguration, Mapping[Key, VisitLoad]],
    differences: Mapping[ResolverConfiguration, stats.Estimate | None],
) -> list[ResolverConfiguration]:
    """Sort by the difference from the baseline, 0 for the baseline itself; without a difference, sort by the median."""

    def key(one: ResolverConfiguration) -> tuple[float, float]:
        difference, median = differences.get(one), _median(list(by_key[one].values()))
        # Of a bound, as most loads failed, the lower end: the configuration was at least so much slower.
        shift = 0.0 if difference is None else difference.value if difference.value is not None else difference.low
        return (0.0 if shift is None else shift), (np.inf if median is None else median)

    having = [one for one in compared if by_key[one]]
    comparable = all(differences.get(one) is not None for one in having if one in differences)
    return sorted(having, key=key if comparable else lambda one: (*key(one)[1:], 0.0))


def _difference(
    treatment: Mapping[Key, VisitLoad], baseline: Mapping[Key, VisitLoad], level: float
) -> stats.Estimate | None:
    """Estimate the shift of the available pairs, or their median when some differences are bounds."""
    keys = sorted(treatment.keys() & baseline.keys())
    if not keys:
        return None
    differences = stats.subtract_pairs(_sample(treatment, keys), _sample(baseline, keys))
    if differences.is_exact:
        return stats.hodges_lehmann(differences, level=level)
    return _require_two_ends(stats.median(differences, level=level))


def _require_two_ends(found: stats.Estimate) -> stats.Estimate:
    """Drop an interval with too few pairs for two ends."""
    if found.n >= _pairs_for_median(found.level):
        return found
    return replace(found, ci_low=None, ci_high=None, method=stats.Method.NONE)


def _pairs_for_median(level: float) -> int:
    """Return the fewest pairs whose range contains the median at the given level.

    A tolerance of 1e-9 absorbs the rounding of both.
    """
    return math.ceil(1 - math.log2(1 - level) - 1e-9)


def _verdict(difference: stats.Estimate | None, margin_ms: float) -> VisitVerdict:
    """Derive the verdict from the interval, so the verdicts hold together as the intervals do."""
    if difference is None or difference.ci_low is None or difference.ci_high is None:
        return VisitVerdict.TOO_FEW
    if difference.verdict:
        return VisitVerdict.SLOWER if difference.verdict > 0 else VisitVerdict.FASTER
    is_within = -margin_ms < difference.ci_low and difference.ci_high < margin_ms
    return VisitVerdict.ALIKE if is_within else VisitVerdict.NOISE


def _sample(loads: Mapping[Key, VisitLoad], keys: Sequence[Key]) -> stats.Sample:
    chosen = [loads[key] for key in keys]
    return stats.Sample.from_censored([one.plt_ms for one in chosen], [one.limit_ms for one in chosen])


def _median(loads: Sequence[VisitLoad]) -> float | None:
    return _middle([np.inf if one.plt_ms is None else one.plt_ms for one in loads if one.counts])


def _middle(values: Sequence[float]) -> float | None:
    """Return the median. For an even number with failures, the result is a measured value or infinite."""
    if not values:
        return None
    low, high = (float(np.quantile(values, 0.5, method=which)) for which in ("lower", "higher"))
    return (low + high) / 2 if np.isfinite(high) else high


def _median_by_page(loads: Mapping[Key, VisitLoad]) -> dict[str, float]:
    of_page: dict[str, list[VisitLoad]] = {}
    for (url, _), one in loads.items():
        of_page.setdefault(url, []).append(one)
    medians = {url: _median(some) for url, some in of_page.items()}
    return {url: median for url, median in medians.items() if median is not None}
