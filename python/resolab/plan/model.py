"""The plan as the rest of resolab sees it: checked, frozen, without any file behind it.

For: a plan's conditions and the baseline of each. Not for: reading TOML (`load`) or ordering trials (`order`).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from resolab.plan.comparison import ComparisonRule, PlannedComparison, planned_comparisons
from resolab.plan.condition import Baseline, Condition, Factors
from resolab.plan.factors import FACTORS, OPTIONAL_FACTORS, Selection, selects, word_of
from resolab.plan.preset_levels import fixed_levels
from resolab.records import DnsTransport, ResolverPath

__all__ = [
    "Baseline",
    "Condition",
    "Factors",
    "Instrument",
    "Limits",
    "Plan",
    "Queries",
    "Repeat",
    "ResolverSettings",
    "Stop",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a load is given up, and when a trial is flagged."""

    page_timeout_s: float = 30.0
    lateness_p99_ms: float = 0.5


@dataclass(frozen=True, slots=True)
class Instrument:
    """How the instrument itself is set."""

    keep_awake: bool = True
    failure_screenshots: bool = False
    """Whether a picture of every failed load is kept in the dataset."""
    netlog: bool = False
    """Whether Chromium's logs of its network stack are kept in the dataset, one per browser process."""
    paths: int = 1
    """Emulated paths, each with edge, stub and browsers of its own, on which trials of a block run at a time."""


@dataclass(frozen=True, slots=True)
class ResolverSettings:
    """How the resolver behaves."""

    miss_delay_ms: float = 40.0
    """Time an answer takes that is not in its cache, beyond that of one that is."""


@dataclass(frozen=True, slots=True)
class Queries:
    """What our own client asks in every trial, beside the cold exchange of each transport."""

    warm_count: int = 0
    """Further names of the page, asked one after the other over the connections the cold exchanges opened."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Conditions that run several times a block, as copies that are compared with each other."""

    levels: Selection
    times: int = 2


@dataclass(frozen=True, slots=True)
class Stop:
    """When a campaign has seen enough; exactly one width is given."""

    ci_width_ms: float | None = None
    """Full width of the interval of each comparison's paired difference."""
    ci_width_ratio: float | None = None
    """Full width of the interval of each comparison's relative change."""
    min_blocks: int = 12
    """Fewer cost the intervals part of their level (docs/method/statistics.md)."""
    check_every_blocks: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """One study: its question, factors, baseline, limits, and the text it was read from."""

    name: str
    question: str
    seed: int
    blocks: int
    factors: Factors
    resolver_path: Mapping[DnsTransport, tuple[ResolverPath, ...]]
    baseline: Baseline
    exclude: tuple[Selection, ...] = ()
    limits: Limits = field(default_factory=Limits)
    instrument: Instrument = field(default_factory=Instrument)
    source_text: str = ""
    repeat: tuple[Repeat, ...] = ()
    comparison_rules: tuple[ComparisonRule, ...] = ()
    """Comparisons the plan names; see `comparisons` for what follows from them."""
    stop: Stop | None = None
    """None: all blocks are run."""
    resolver: ResolverSettings = field(default_factory=ResolverSettings)
    queries: Queries = field(default_factory=Queries)

    def combinations(self) -> list[Condition]:
        """Every combination of levels, in the plan's order."""
        names = (*FACTORS, *OPTIONAL_FACTORS)
        given = (dict(zip(names, levels, strict=True)) for levels in itertools.product(*map(self._levels, names)))
        return [
            self._settled(Condition(**levels, resolver_path=path, named=self.factors.named))
            for levels in given
            for path in self.resolver_path[levels["dns_transport"]]
        ]

    def conditions(self) -> list[Condition]:
        """Every combination of levels that the plan does not exclude, in the plan's order, with its copies."""
        kept = (one for one in self.combinations() if not any(selects(selection, one) for selection in self.exclude))
        return [
            replace(one, replicate=number) if number > 1 else one
            for one in kept
            for number in range(1, self._copies(one) + 1)
        ]

    def comparisons(self) -> list[PlannedComparison]:
        """List what is compared: the named comparisons or, without any, all with the baseline; then the copies."""
        return planned_comparisons(
            self.conditions(), self.comparison_rules, with_levels=self.with_levels, baseline_of=self.baseline_of
        )

    def words(self, factor: str) -> tuple[str, ...]:
        """List the plan's levels of a factor, named or not, as words."""
        return tuple(word_of(level, factor) for level in self._levels(factor))

    def varying(self) -> tuple[str, ...]:
        """List the optional factors it names in which its conditions differ, in the order of identifiers."""
        conditions = self.conditions()
        return tuple(factor for factor in self.factors.named if len({getattr(one, factor) for one in conditions}) > 1)

    def baseline_of(self, condition: Condition) -> Condition:
        """Find the condition of the same page and profile that `condition` is compared with; may be itself.

        A copy is compared with the first of its condition and nothing else.
        """
        if condition.replicate > 1:
            return replace(condition, replicate=1)
        return self.with_levels(condition, self.baseline)

    def with_levels(self, condition: Condition, baseline: Baseline) -> Condition:
        """Find the condition that differs from another in the levels a baseline names."""
        reference = replace(condition, **baseline.levels(), replicate=1)
        paths = self.resolver_path[reference.dns_transport]
        if baseline.resolver_path is None and reference.resolver_path not in paths:
            reference = replace(reference, resolver_path=paths[0])
        return self._settled(reference)

    def _settled(self, condition: Condition) -> Condition:
        """Give the factors the plan does not name the level that holds beside a preset, or else their default."""
        if not any(self.factors.browser_preset):
            return condition
        levels = {**OPTIONAL_FACTORS, **fixed_levels(condition)}
        unnamed = {factor: level for factor, level in levels.items() if factor not in self.factors.named}
        return replace(condition, **unnamed)

    def _copies(self, condition: Condition) -> int:
        return max((one.times for one in self.repeat if selects(one.levels, condition)), default=1)

    def _levels(self, factor: str) -> tuple[Any, ...]:
        if factor == "resolver_path":
            return tuple(dict.fromkeys(path for paths in self.resolver_path.values() for path in paths))
        levels: tuple[Any, ...] = getattr(self.factors, factor)
        return levels
