"""Page loads by network and configuration (transport and resolver), for pairing configurations.

For: the choice of pairs, and the contribution of each pair. Not for: drawing.

A pair has the same block and page, and differs only in transport and resolver. A load failed by the network is censored
at its limit, so its pair is a bound. A load lost by the instrument is left out, as everywhere in the report.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import transport_position
from resolab.plan.factor import FactorSubject
from resolab.plan.factors import select_factors
from resolab.plan.software import EDGE
from resolab.report.findings.page_loads import make_sample
from resolab.report.findings.resolvers import LAB, Resolver
from resolab.report.live.configurations.further_levels import FurtherLevels
from resolab.report.live.configurations.sampling import PooledPairs, list_places
from resolab.report.plots import transport_label
from resolab.report.plots.difference_cdfs import DifferenceCurve, SharePoint
from resolab.report.plots.save import Value
from resolab.stats import Sample, quantile, subtract_pairs
from resolab.store.outcomes import LoadOutcome
from resolab.store.trial_loads import TrialLoadRow

POINTS_COUNT = 201
"""The largest number of points in a drawn curve."""

PairKey = tuple[Any, ...]
"""Block, page, and the other levels describing the page."""
_OF_THE_PAGE = select_factors(FactorSubject.PAGE)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A transport to a resolver, and the varying further levels of the lookup."""

    dns_transport: str
    resolver: Resolver
    further: tuple[str, ...] = ()
    browser: tuple[str, str | None] = ("", None)
    """Browser program and settings preset; loads with other values are neither a baseline nor pooled."""

    @property
    def place(self) -> tuple[Any, ...]:
        """The sort key: resolvers in order, transports within them."""
        return *self.resolver.place, transport_position(self.dns_transport), self.further

    @property
    def transport(self) -> str:
        """The label within a resolver."""
        return ", ".join((transport_label(self.dns_transport), *self.further))

    def label(self, among: Sequence[Resolver]) -> str:
        """Return the full label of the configuration."""
        return ", ".join(part for part in (self.transport, self.resolver.label(among)) if part)


Loads = Mapping[str, Mapping[Configuration, Mapping[PairKey, TrialLoadRow]]]
"""Loads by profile, configuration and pair."""


def arrange(rows: Sequence[TrialLoadRow], outcome: LoadOutcome) -> Loads:
    """Group the loads contributing to an outcome by profile and configuration.

    A configuration has a single load for each pair key. Raise `ConfigurationError` for two loads with equal keys,
    because they would differ in an unknown factor.
    """
    further = FurtherLevels(rows)
    arranged: dict[str, dict[Configuration, dict[PairKey, TrialLoadRow]]] = {}
    for row in rows:
        if outcome.contribution(row) is not None:
            arm = arranged.setdefault(row.profile, {}).setdefault(_configuration(row, further), {})
            before = arm.setdefault(_pair_key(row), row)
            if before is not row:
                raise _twice(before, row)
    return {
        profile: {one: configurations[one] for one in sorted(configurations, key=lambda one: one.place)}
        for profile, configurations in arranged.items()
    }


def _twice(one: TrialLoadRow, other: TrialLoadRow) -> ConfigurationError:
    """Return an error about two loads of a block with equal levels in all factors."""
    where = f"trials {one.trial_id} and {other.trial_id}"
    return ConfigurationError(f"failed to pair page loads: {where} have the same levels in one block; remove one")


def _configuration(row: TrialLoadRow, further: FurtherLevels) -> Configuration:
    resolver = Resolver(row.resolver_extra_rtt_ms, row.resolver_cache, row.resolver, row.resolver_software)
    return Configuration(row.dns_transport, resolver, further.read_levels(row), (row.browser, row.browser_preset))


def _pair_key(row: TrialLoadRow) -> PairKey:
    return row.block, *(getattr(row, factor) for factor in _OF_THE_PAGE)


def pool_pairs(
    treatment: Mapping[PairKey, TrialLoadRow],
    baseline: Mapping[PairKey, TrialLoadRow],
    outcome: LoadOutcome,
    *,
    both_failed: bool = True,
) -> PooledPairs:
    """Subtract within pairs, with bounds for failed loads; `both_failed=False` leaves out pairs of two failures."""
    both = [
        key
        for key in treatment
        if key in baseline and (both_failed or any(_has_value(arm[key], outcome) for arm in (treatment, baseline)))
    ]
    own, other = ([arm[key] for key in both] for arm in (treatment, baseline))
    return PooledPairs(subtract_pairs(make_sample(outcome, own), make_sample(outcome, other)), list_places(both))


def _has_value(row: TrialLoadRow, outcome: LoadOutcome) -> bool:
    told = outcome.contribution(row)
    return told is not None and told.value_ms is not None


def difference_curve(pairs: PooledPairs, key: Mapping[str, Value], level: float) -> DifferenceCurve:
    """Return differences as a curve with its medians, and intervals at the given level."""
    differences = pairs.differences
    exact = differences.low == differences.high
    known = np.sort(differences.low[exact])
    lows, highs = np.sort(differences.low), np.sort(differences.high)
    ends = np.unique(np.concatenate((lows, highs)))
    ends = ends[np.isfinite(ends)]
    if ends.size > POINTS_COUNT:
        ends = ends[np.round(np.linspace(0, ends.size - 1, POINTS_COUNT)).astype(int)]
    points = [
        SharePoint(
            difference_ms=float(end),
            least=float(np.searchsorted(highs, end, side="right")) / highs.size,
            most=float(np.searchsorted(lows, end, side="right")) / lows.size,
            survivors=float(np.searchsorted(known, end, side="right")) / known.size if known.size else None,
        )
        for end in ends
    ]
    return DifferenceCurve(
        points=points,
        most_before=float(np.count_nonzero(np.isneginf(lows))) / lows.size if lows.size else 0.0,
        median_ms=pairs.median(level),
        survivors_median_ms=quantile(Sample.exact(known), 0.5, level=level),
        key=key,
        unit=pairs.unit,
        pages_count=pairs.pages_count,
    )


def list_levels(side: str, configuration: Configuration) -> dict[str, Value]:
    """Return a configuration as columns of a CSV."""
    return {
        f"{side}_dns_transport": configuration.dns_transport,
        f"{side}_resolver_extra_rtt_ms": configuration.resolver.extra_rtt_ms,
        f"{side}_resolver_cache": configuration.resolver.cache,
        **({} if configuration.resolver.name == LAB else {f"{side}_resolver": configuration.resolver.name}),
        **({} if configuration.resolver.software == EDGE else {f"{side}_software": configuration.resolver.software}),
        f"{side}_further_levels": ", ".join(configuration.further),
    }
