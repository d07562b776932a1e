"""Estimate the blocks and hours needed by a plan for each comparison, from a pilot dataset.

For: `resolab plan power`, and `plan check` with a pilot. Not for: the calculation of block numbers (`stats.power`),
words.

A comparison is found in the pilot by the levels of both conditions, so the pilot may be of another plan. Hours are from
the pilot's own trials, including the costs of machine and link.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from resolab.basics.errors import ConfigurationError
from resolab.basics.wording import format_count
from resolab.campaign.margins import margins_ms
from resolab.plan import (
    EVERY_PAGE,
    ComparisonKind,
    Condition,
    Plan,
    PlannedComparison,
    parse_plan,
    pool_pages,
    stream_seed,
)
from resolab.plan.factors import EVERY_FACTOR
from resolab.stats import (
    LEVEL,
    STOPPING_LEVEL,
    BlocksNeeded,
    IntervalGoal,
    PowerRule,
    Sample,
    aim_at_width,
    aim_within_margin,
    blocks_needed,
    excludes_zero,
    median,
    pairs,
    subtract_pairs,
)
from resolab.stats.power import PAIRS_NEEDED
from resolab.store import Dataset
from resolab.store.outcomes import LoadOutcome, contributions, find_outcome
from resolab.store.rows import LoadRow

MOST_BLOCKS = 1_000


@dataclass(frozen=True, slots=True)
class PowerAims:
    """The aims for the number of blocks.

    The default of a missing aim is the plan's value, or the pilot's own difference.
    """

    effect_ms: float | None = None
    width_ms: float | None = None
    margin_ms: float | None = None
    most_blocks: int = MOST_BLOCKS


@dataclass(frozen=True, slots=True)
class AimResult:
    """The blocks for an aim of a comparison, and the hours of both conditions in these blocks."""

    aim: str
    needed: BlocksNeeded | None
    """The needed blocks; `None` when the pilot gives no answer."""
    hours: float | None


@dataclass(frozen=True, slots=True)
class ComparisonPower:
    """A comparison of the plan, with the pilot's data."""

    comparison: PlannedComparison
    pairs_count: int
    difference_ms: float | None
    """The median difference in the pilot, in ms."""
    answers: Sequence[AimResult]


@dataclass(frozen=True, slots=True)
class PlanPower:
    """The results for all comparisons of a plan."""

    rows: Sequence[ComparisonPower]
    totals: Mapping[str, tuple[int, float, float] | None]
    """The totals by aim: blocks until the last comparison is decided, hours with all conditions running to the end,
    hours with each condition running only as long as needed. `None` when some comparison has no number."""
    most_blocks: int


def plan_power(plan: Plan, pilot: Dataset, asked: PowerAims) -> PlanPower:
    """Return the result for every comparison of the plan except A/A."""
    plan = pool_pages(plan)
    found = PilotData(plan, pilot, find_outcome(plan.analysis.primary))
    margins = margins_ms(plan, pilot.manifest.profiles)
    compared = [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA]
    rows = [_row(plan, one, found, _aims(plan, one, found, asked, margins.get(one.id)), asked) for one in compared]
    names = dict.fromkeys(answer.aim for row in rows for answer in row.answers)
    return PlanPower(rows, {name: _total(plan, rows, found, name) for name in names}, asked.most_blocks)


class PilotData:
    """The loads and trial durations of a dataset by the levels of its conditions."""

    def __init__(self, plan: Plan, pilot: Dataset, outcome: LoadOutcome) -> None:
        self.outcome = outcome
        text, source = pilot.manifest.plan_text, str(pilot.folder / "plan.toml")
        own = parse_plan(text, source, corpus=None, begun_with=pilot.manifest.pages())
        if (own.kind, own.study and own.study.name) != (plan.kind, plan.study and plan.study.name):
            raise ConfigurationError(
                f"{pilot.folder} has trials of the kind {own.kind}, and the plan {plan.name} has the kind {plan.kind}: "
                "give a dataset of the plan's kind of trial"
            )
        own = pool_pages(replace(own, seed=pilot.manifest.seed))
        if own.samples_pages:
            pilot.take_pages_as_one(EVERY_PAGE)
        names = {_levels(one): one.id for one in own.conditions()}
        self._name_of: Callable[[Condition], str] = lambda one: names.get(_levels(one), "")
        self._loads = _group_by_condition(self.outcome, pilot.measured_loads())
        self._seconds = pilot.trial_seconds()

    def samples(self, one: PlannedComparison) -> tuple[Sample, Sample]:
        """Return both arms in their common blocks."""
        own, other = (_first_rounds(self._loads.get(self._name_of(arm), [])) for arm in (one.treatment, one.baseline))
        treated, compared = pairs([load.block for load in own], [load.block for load in other])
        return tuple(  # type: ignore[return-value]
            Sample.from_censored(*contributions(self.outcome, arm)).take(chosen)
            for arm, chosen in ((own, treated), (other, compared))
        )

    def seconds(self, condition: Condition) -> float | None:
        """Return the mean duration of a trial, in s."""
        return self._seconds.get(self._name_of(condition))


def _group_by_condition(outcome: LoadOutcome, loads: Sequence[LoadRow]) -> dict[str, list[LoadRow]]:
    found: dict[str, list[LoadRow]] = {}
    for load in loads:
        if outcome.contribution(load) is not None:
            found.setdefault(load.condition, []).append(load)
    return found


def _first_rounds(loads: Sequence[LoadRow]) -> list[LoadRow]:
    """Keep one load of each sampled page."""
    return list({load.block: load for load in reversed(loads)}.values())[::-1]


def _levels(condition: Condition) -> tuple[object, ...]:
    return (*(getattr(condition, factor) for factor in EVERY_FACTOR), condition.replicate)


def _aims(
    plan: Plan, one: PlannedComparison, pilot: PilotData, asked: PowerAims, margin_ms: float | None
) -> list[tuple[str, IntervalGoal | None]]:
    """List the requested aims or, without a request, the plan's aims and the pilot's own difference."""
    given: list[tuple[str, IntervalGoal | None]] = []
    if asked.effect_ms is not None:
        given.append((f"difference of {asked.effect_ms:g} ms", excludes_zero(asked.effect_ms)))
    if asked.width_ms is not None:
        given.append((f"width of {asked.width_ms:g} ms", aim_at_width(asked.width_ms)))
    if asked.margin_ms is not None:
        given.append((f"within ±{asked.margin_ms:g} ms", aim_within_margin(asked.margin_ms)))
    if given:
        return given
    given.append(("difference as in the pilot", excludes_zero()))
    if plan.stop is not None and plan.stop.ci_width_ms is not None:
        given.append((f"width of {plan.stop.ci_width_ms:g} ms", aim_at_width(plan.stop.ci_width_ms)))
    if plan.stop is not None and plan.stop.ci_width_ratio is not None:
        middle = median(pilot.samples(one)[1]).value
        aim = None if middle is None else aim_at_width(plan.stop.ci_width_ratio * middle)
        given.append((f"width of {plan.stop.ci_width_ratio:.3g} of the baseline's median", aim))
    if margin_ms is not None:
        given.append(("within the plan's margin", aim_within_margin(margin_ms)))
    return given


def _row(
    plan: Plan,
    one: PlannedComparison,
    pilot: PilotData,
    aims: Sequence[tuple[str, IntervalGoal | None]],
    asked: PowerAims,
) -> ComparisonPower:
    differences = subtract_pairs(*pilot.samples(one))
    rule = _rule(plan)
    seed = stream_seed(plan.seed, "power", one.id)
    answers = []
    for name, aim in aims:
        needed = None if aim is None else blocks_needed(differences, aim, rule, most=asked.most_blocks, seed=seed)
        answers.append(AimResult(name, needed, _hours(plan, needed, pilot, [one.treatment, one.baseline])))
    return ComparisonPower(one, len(differences), median(differences).value, answers)


def _rule(plan: Plan) -> PowerRule:
    if plan.stop is None:
        return PowerRule(LEVEL)
    return PowerRule(LEVEL, at_any_look=True) if plan.stop.drops_conditions else PowerRule(STOPPING_LEVEL)


def _hours(plan: Plan, needed: BlocksNeeded | None, pilot: PilotData, conditions: Sequence[Condition]) -> float | None:
    """Return the hours of conditions on the plan's paths, with trials in parallel."""
    seconds = [pilot.seconds(one) for one in conditions]
    if needed is None or needed.blocks is None or None in seconds:
        return None
    return needed.blocks * sum(one for one in seconds if one is not None) / plan.instrument.paths / 3600


def _total(plan: Plan, rows: Sequence[ComparisonPower], pilot: PilotData, aim: str) -> tuple[int, float, float] | None:
    """Return the total cost of an aim for all comparisons, on the plan's paths."""
    blocks: dict[str, int] = {}
    for row in rows:
        # A comparison on a network that the pilot lacks has no margin in round trips, so no such aim.
        needed = next((one.needed for one in row.answers if one.aim == aim), None)
        if needed is None or needed.blocks is None:
            return None
        for arm in (row.comparison.treatment, row.comparison.baseline):
            blocks[arm.id] = max(blocks.get(arm.id, 0), needed.blocks)
    last = max(blocks.values(), default=0)
    conditions = plan.conditions()
    known = [cost for one in conditions if (cost := pilot.seconds(one)) is not None]
    # A condition the pilot lacks, in no comparison, is taken to cost what the others do.
    seconds = {one.id: pilot.seconds(one) or float(np.mean(known)) for one in conditions}
    paths = plan.instrument.paths
    together = sum(last * one for one in seconds.values()) / paths / 3600
    apart = sum(blocks.get(name, last) * one for name, one in seconds.items()) / paths / 3600
    return last, together, apart


def pilot_problem(row: ComparisonPower) -> str:
    """Return the reason for the missing number."""
    if row.pairs_count == 0:
        return "not in the pilot"
    if row.pairs_count < PAIRS_NEEDED:
        return f"{format_count(row.pairs_count, 'pair')} in the pilot, {PAIRS_NEEDED} needed"
    return "too many failed loads"
