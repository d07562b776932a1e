"""Whether a campaign has seen enough: the width of every comparison's interval after whole blocks.

For: the rule `fixed_width` of a plan, on the same values and seeds as the report. Not for: the interval itself
(`stats`), or whether stopping by it keeps its level (docs/method/statistics.md).

A look depends on nothing but the finished blocks: a campaign that is killed and resumed looks at the same ones and ends
where it would have ended.
"""

import math
from collections.abc import Iterable

from resolab.campaign.look import Look
from resolab.campaign.measured import Measured, sample_of
from resolab.plan import ComparisonKind, Plan, PlannedComparison, Stop, stream_seed
from resolab.records import Record
from resolab.stats import STOPPING_LEVEL, Estimate, paired_difference, pairs, relative_change, width_reached
from resolab.store import WidthReached
from resolab.store.outcomes import PLT, Outcome


class Precision:
    """One outcome of a campaign's page loads, as far as the stopping rule needs them."""

    def __init__(self, plan: Plan, stop: Stop, seed: int, outcome: Outcome = PLT) -> None:
        self._stop, self._seed, self._measured = stop, seed, Measured(outcome, plan.conditions())
        self._comparisons = [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA]

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Take in what a finished trial contributes to the outcome."""
        self._measured.add(condition, block, records)

    def due(self, blocks: int) -> bool:
        """Whether to look after that many whole blocks."""
        beyond = blocks - self._stop.min_blocks
        return beyond >= 0 and beyond % self._stop.check_every_blocks == 0

    def look(self, blocks: int) -> Look:
        """Compute every comparison's interval over the first blocks."""
        estimates = [(one, self._estimate(one, blocks)) for one in self._comparisons]
        asked = self._stop.ci_width_ms or self._stop.ci_width_ratio or 0.0
        widths = [(math.inf if one.ci_width is None else one.ci_width, pair.name) for pair, one in estimates]
        widest, name = max(widths)
        return Look(
            blocks=blocks,
            # At the cap it looks whatever there is; of too few blocks no width decides anything.
            reached=blocks >= self._stop.min_blocks and all(width_reached(one, asked) for _, one in estimates),
            widths=tuple(self._width(pair, one) for pair, one in estimates),
            widest=widest,
            widest_name=name,
        )

    def text(self, look: Look) -> str:
        """Say how far the widest comparison is from what was asked."""
        if self._stop.ci_width_ms is not None:
            asked, scale, unit = self._stop.ci_width_ms, 1.0, "ms"
        else:
            asked, scale, unit = self._stop.ci_width_ratio or 0.0, 100.0, "%"
        width = "unbounded" if math.isinf(look.widest) else f"{look.widest * scale:.3g} {unit}"
        return f"widest interval {width} of {asked * scale:g} {unit} asked ({look.widest_name})"

    def expected_blocks(self, look: Look, cap: int) -> int:
        """Guess how many blocks it will take: an interval's width falls with the root of its number of values."""
        asked = self._stop.ci_width_ms or self._stop.ci_width_ratio or 0.0
        if math.isinf(look.widest):
            return cap
        return min(cap, max(look.blocks + 1, math.ceil(look.blocks * (look.widest / asked) ** 2)))

    def _estimate(self, one: PlannedComparison, blocks: int) -> Estimate:
        own, other = (self._measured.before(arm.id, blocks) for arm in (one.treatment, one.baseline))
        treated, compared = pairs(sorted(own), sorted(other))
        treatment, baseline = sample_of(own).take(treated), sample_of(other).take(compared)
        if self._stop.ci_width_ms is not None:
            return paired_difference(treatment, baseline, level=STOPPING_LEVEL)
        seed = stream_seed(self._seed, self._measured.outcome.change_stream, one.id)
        return relative_change(treatment, baseline, seed=seed, level=STOPPING_LEVEL)

    def _width(self, pair: PlannedComparison, one: Estimate) -> WidthReached:
        # JSON has no infinity.
        width = one.ci_width if one.ci_width is not None and math.isfinite(one.ci_width) else None
        in_ms = self._stop.ci_width_ms is not None
        return WidthReached(
            name=pair.name,
            treatment=pair.treatment.id,
            baseline=pair.baseline.id,
            ci_width_ms=width if in_ms else None,
            ci_width_ratio=None if in_ms else width,
        )
