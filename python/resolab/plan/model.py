"""The checked and frozen plan for the rest of resolab, without any file.

For: a plan's conditions and the baseline of each. Not for: reading TOML (`load`) or ordering trials (`order`).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from resolab.basics.records import DnsTransport, ResolverPath, TrialKind
from resolab.plan.analysis import Analysis
from resolab.plan.browser_builds import STOCK_BROWSERS, BrowserBuilds
from resolab.plan.comparison import ComparisonRule, PlannedComparison, list_comparisons
from resolab.plan.condition import Baseline, Condition, Factors
from resolab.plan.expectation import Expectation
from resolab.plan.factors import FACTORS, OPTIONAL_FACTORS, Selection, format_level, list_differing_factors, selects
from resolab.plan.key_exchange import KeyExchange
from resolab.plan.live.settings import LAB, LiveSettings
from resolab.plan.pages.own_pages import PlanPageSource
from resolab.plan.preset_levels import find_fixed_levels
from resolab.plan.settings import (
    HIGHEST_BLOCKS,
    ChoiceOf,
    Design,
    EdgeSettings,
    Instrument,
    Limits,
    NumberBounds,
    PageSettings,
    QuerySettings,
    ResolverSettings,
    StopSettings,
    Unit,
)
from resolab.plan.software.settings import Software
from resolab.plan.study import PlannedStudy

HIGHEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Repeat:
    """Conditions run several times a block, as copies compared with each other."""

    levels: Selection
    times: Annotated[int, NumberBounds(2, 20)] = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """One study: question, factors, baseline, limits, and the text of the plan's file."""

    name: str
    question: str
    seed: Annotated[int, NumberBounds(0, HIGHEST_SEED, "Every random choice derives from it.")]
    blocks: Annotated[
        int, NumberBounds(1, HIGHEST_BLOCKS, "How often every condition runs; with unit = page, pages loaded.")
    ]
    factors: Factors
    resolver_path: Mapping[DnsTransport, tuple[ResolverPath, ...]]
    baseline: Baseline
    kind: Annotated[TrialKind, ChoiceOf(tuple(TrialKind))] = TrialKind.PAGE_LOAD
    """The measured part of every trial."""
    study: PlannedStudy | None = None
    """The study with the plan's trials; `None` for other kinds of trial."""
    exclude: tuple[Selection, ...] = ()
    limits: Limits = field(default_factory=Limits)
    instrument: Instrument = field(default_factory=Instrument)
    source_text: str = ""
    base: Path | None = None
    """The folder for the plan's relative paths."""
    own_pages: Mapping[str, PlanPageSource] = field(default_factory=dict)
    """The origin of pages named by path or drawn, by their names."""
    repeat: tuple[Repeat, ...] = ()
    comparison_rules: tuple[ComparisonRule, ...] = ()
    """Comparisons named by the plan; see `comparisons` for all derived comparisons."""
    expectations: tuple[Expectation, ...] = ()
    """Expectations with a verdict (`resolab run --check`)."""
    stop: StopSettings | None = None
    """`None`: all blocks are run."""
    resolver: ResolverSettings = field(default_factory=ResolverSettings)
    edge: EdgeSettings = field(default_factory=EdgeSettings)
    queries: QuerySettings = field(default_factory=QuerySettings)
    key_exchange: KeyExchange = field(default_factory=KeyExchange)
    analysis: Analysis = field(default_factory=Analysis)
    design: Design = field(default_factory=Design)
    pages: PageSettings = field(default_factory=PageSettings)
    live: LiveSettings | None = None
    """The live settings of a plan for the real network."""
    browser_builds: BrowserBuilds = field(default_factory=lambda: STOCK_BROWSERS)
    """The stock browsers and the plan's own builds (`[browser.NAME]`), by name."""
    software: Mapping[str, Software] = field(default_factory=dict)
    """The plan's own software by name, as far as its factors name it."""
    at: str = LAB
    """The vantage point of a lab plan's run; no key of the file, for a plan is the same everywhere (`vantage`)."""

    @property
    def vantage_point(self) -> str:
        """Return the vantage point of the run."""
        return self.at if self.live is None else self.live.vantage_point

    @property
    def samples_pages(self) -> bool:
        """Return True when pages are the sampled unit: each block loads one page."""
        return self.design.unit is Unit.PAGE

    def combinations(self) -> list[Condition]:
        """Every combination of levels, in the plan's order."""
        names = (*FACTORS, *OPTIONAL_FACTORS)
        study = None if self.study is None else self.study.name
        given = (dict(zip(names, levels, strict=True)) for levels in itertools.product(*map(self._levels, names)))
        return [
            self._set_absent_factors(self._condition(levels, path, study))
            for levels in given
            for path in self.resolver_path[levels["dns_transport"]]
        ]

    def _condition(self, levels: Mapping[str, Any], path: ResolverPath, study: str | None) -> Condition:
        return Condition(
            **levels,
            resolver_path=path,
            named=self.factors.named,
            kind=self.kind,
            study=study,
            browser_builds=self.browser_builds,
        )

    def conditions(self) -> list[Condition]:
        """Return every combination of levels except the excluded, in the plan's order, with copies."""
        kept = (one for one in self.combinations() if not any(selects(selection, one) for selection in self.exclude))
        return [
            replace(one, replicate=number) if number > 1 else one
            for one in kept
            for number in range(1, self._copies(one) + 1)
        ]

    def comparisons(self) -> list[PlannedComparison]:
        """List the comparisons: the named ones or, without any, all with the baseline; then the copies."""
        return list_comparisons(
            self.conditions(), self.comparison_rules, with_levels=self.find_with_levels, baseline_of=self.find_baseline
        )

    def words(self, factor: str) -> tuple[str, ...]:
        """List the plan's levels of a factor, named or not, as words."""
        return tuple(format_level(level, factor) for level in self._levels(factor))

    def list_varying_factors(self) -> tuple[str, ...]:
        """List the named optional factors with differing levels in the conditions, in the order of identifiers."""
        differing = list_differing_factors(self.conditions())
        return tuple(factor for factor in self.factors.named if factor != "page" and factor in differing)

    def find_baseline(self, condition: Condition) -> Condition:
        """Find the baseline of `condition`, on the same page and profile; may be the condition itself.

        A copy is compared only with the first copy of its condition.
        """
        if condition.replicate > 1:
            return replace(condition, replicate=1)
        return self.find_with_levels(condition, self.baseline)

    def find_with_levels(self, condition: Condition, baseline: Baseline) -> Condition:
        """Find the condition different from another only in a baseline's levels."""
        reference = replace(condition, **baseline.levels, replicate=1)
        paths = self.resolver_path[reference.dns_transport]
        if "resolver_path" not in baseline.levels and reference.resolver_path not in paths:
            reference = replace(reference, resolver_path=paths[0])
        return self._set_absent_factors(reference)

    def _set_absent_factors(self, condition: Condition) -> Condition:
        """Set factors absent from the plan to the level fixed by a preset, or else to their default."""
        if not any(self._levels("browser_preset")):
            return condition
        levels = {**OPTIONAL_FACTORS, **find_fixed_levels(condition)}
        others = {
            factor: level
            for factor, level in levels.items()
            if factor not in self.factors.named and getattr(condition, factor) != level
        }
        return replace(condition, **others) if others else condition

    def _copies(self, condition: Condition) -> int:
        return max((one.times for one in self.repeat if selects(one.levels, condition)), default=1)

    def _levels(self, factor: str) -> tuple[Any, ...]:
        if factor == "resolver_path":
            return tuple(dict.fromkeys(path for paths in self.resolver_path.values() for path in paths))
        return self.factors.levels[factor]
