"""Every configuration of a live dataset against every other, with page load times paired by site.

For: the pairs of Fig. 2 of Hounsel et al., significant differences, and equivalence within the plan's margin. Not for:
drawing (`matrix`), or comparisons across vantage points, impossible because of different clocks and networks.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from resolab.plan import Estimand
from resolab.report.findings.interval_level import find_significance
from resolab.report.live.configurations.loads import Configuration, difference_curve, list_levels, pool_pairs
from resolab.report.live.configurations.sampling import PooledPairs
from resolab.report.live.study import LiveStudy
from resolab.report.plots.difference_cdfs import DifferenceCurve
from resolab.report.plots.save import Value
from resolab.stats import Equivalence, EquivalenceTest, Sample, equivalence


@dataclass(frozen=True, slots=True)
class ConfigurationPair:
    """A configuration minus another from a vantage point."""

    profile: str
    treatment: Configuration
    baseline: Configuration
    curve: DifferenceCurve
    tested: Equivalence | None
    """The equivalence test with the plan's margin; `None` without a margin in ms."""
    both_failed_count: int
    """Pairs with two failed loads, left out because they give no information about the difference."""

    @property
    def verdict(self) -> int:
        """1 when the treatment's loads take longer, -1 when they take less time, 0 when undecided."""
        return self.curve.median_ms.verdict


def configuration_pairs(study: LiveStudy) -> list[ConfigurationPair]:
    """Compare every configuration with every other of the same vantage point, in both orders."""
    return [
        _pair(study, place, row, column)
        for place, arms in study.loads.items()
        for row in arms
        for column in arms
        if row != column
    ]


def _pair(study: LiveStudy, place: str, row: Configuration, column: Configuration) -> ConfigurationPair:
    arms = study.loads[place]
    pairs = pool_pairs(arms[row], arms[column], study.outcome, both_failed=False)
    met = sum(key in arms[column] for key in arms[row])
    key: dict[str, Value] = {"vantage_point": place, **_levels("row", row), **_levels("column", column)}
    key |= {"both_failed_count": met - len(pairs.places)}
    curve = difference_curve(pairs, key, study.level)
    return ConfigurationPair(place, row, column, curve, _test_difference(study, pairs), met - len(pairs.places))


def _levels(side: str, one: Configuration) -> dict[str, Value]:
    """Return a configuration's CSV columns without the columns of the emulated network."""
    lab = (f"{side}_resolver_extra_rtt_ms", f"{side}_resolver_cache")
    found: Mapping[str, Value] = list_levels(side, one)
    return {name: value for name, value in found.items() if name not in lab}


def _test_difference(study: LiveStudy, pairs: PooledPairs) -> Equivalence | None:
    """Test a single difference per site, the mean over its rounds."""
    analysis = study.findings.plan.analysis
    if analysis.equivalence_margin_ms is None:
        return None
    test = EquivalenceTest.SIGNED_RANK if analysis.estimand is Estimand.SHIFT else EquivalenceTest.SIGN
    significance = find_significance(study.findings.plan)
    return equivalence(_average_by_site(pairs), analysis.equivalence_margin_ms, test=test, significance=significance)


def _average_by_site(pairs: PooledPairs) -> Sample:
    places: dict[Hashable, list[int]] = {}
    for number, (_, page) in enumerate(pairs.places):
        places.setdefault(page, []).append(number)
    bounds = (pairs.differences.low, pairs.differences.high)
    low, high = (np.array([bound[of].mean() for of in places.values()]) for bound in bounds)
    return Sample(low, high)


def each_once(pairs: Sequence[ConfigurationPair]) -> list[ConfigurationPair]:
    """Return the pairs without their reverses."""
    seen: set[tuple[str, Configuration, Configuration]] = set()
    found = []
    for one in pairs:
        if (one.profile, one.baseline, one.treatment) not in seen:
            seen.add((one.profile, one.treatment, one.baseline))
            found.append(one)
    return found
