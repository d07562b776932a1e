"""Decide when a campaign has enough data: by the width of every comparison's interval after whole blocks.

For: the rule `fixed_width` of a plan, on the same values and seeds as the report. Not for: the interval itself
(`stats`), or the level of the interval under this stopping rule (docs/method/statistics.md).

An interim analysis depends only on the finished blocks. A killed and resumed campaign analyses the same blocks and ends
after the same block.
"""

import math
from collections.abc import Iterable

from resolab.basics.records import Record
from resolab.campaign.contributions import OutcomeContributions, make_sample
from resolab.campaign.interim_analysis import InterimAnalysis, describe_width
from resolab.plan import ComparisonKind, Plan, PlannedComparison, StopSettings, stream_seed
from resolab.stats import STOPPING_LEVEL, Estimate, estimate_paired_difference, pairs, relative_change, width_reached
from resolab.store import IntervalWidth
from resolab.store.outcomes import PLT, LoadOutcome


class FixedWidthRule:
    """The values of an outcome needed by the stopping rule."""

    def __init__(self, plan: Plan, stop: StopSettings, seed: int, outcome: LoadOutcome = PLT) -> None:
        self._stop, self._seed, self._measured = stop, seed, OutcomeContributions(outcome, plan.conditions())
        self._comparisons = [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA]

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Add a finished trial's contribution to the outcome."""
        self._measured.add(condition, block, records)

    def look(self, blocks: int) -> InterimAnalysis:
        """Compute every comparison's interval over the first blocks."""
        estimates = [(one, self._estimate(one, blocks)) for one in self._comparisons]
        asked = self._stop.ci_width_ms or self._stop.ci_width_ratio or 0.0
        widths = [(math.inf if one.ci_width is None else one.ci_width, pair.name) for pair, one in estimates]
        widest, name = max(widths)
        return InterimAnalysis(
            blocks=blocks,
            # At the cap it looks whatever there is; of too few blocks no width decides anything.
            reached=blocks >= self._stop.min_blocks and all(width_reached(one, asked) for _, one in estimates),
            widths=tuple(self._width(pair, one) for pair, one in estimates),
            widest=widest,
            widest_name=name,
        )

    def text(self, look: InterimAnalysis) -> str:
        """Return the widest interval and the requested width as text."""
        if self._stop.ci_width_ms is not None:
            asked, scale, unit = self._stop.ci_width_ms, 1.0, "ms"
        else:
            asked, scale, unit = self._stop.ci_width_ratio or 0.0, 100.0, "%"
        width = "unbounded" if math.isinf(look.widest) else f"{look.widest * scale:.3g} {unit}"
        return f"widest interval {width} of {asked * scale:g} {unit} asked ({look.widest_name})"

    def estimate_blocks(self, look: InterimAnalysis, cap: int) -> int:
        """Return the expected number of blocks: a width falls with the square root of the number of values."""
        asked = self._stop.ci_width_ms or self._stop.ci_width_ratio or 0.0
        if math.isinf(look.widest):
            return cap
        return min(cap, max(look.blocks + 1, math.ceil(look.blocks * (look.widest / asked) ** 2)))

    def _estimate(self, one: PlannedComparison, blocks: int) -> Estimate:
        own, other = (self._measured.select_first_blocks(arm.id, blocks) for arm in (one.treatment, one.baseline))
        treated, compared = pairs(sorted(own), sorted(other))
        treatment, baseline = make_sample(own).take(treated), make_sample(other).take(compared)
        if self._stop.ci_width_ms is not None:
            return estimate_paired_difference(treatment, baseline, level=STOPPING_LEVEL)
        seed = stream_seed(self._seed, self._measured.outcome.change_stream, one.id)
        return relative_change(treatment, baseline, seed=seed, level=STOPPING_LEVEL)

    def _width(self, pair: PlannedComparison, one: Estimate) -> IntervalWidth:
        width = math.inf if one.ci_width is None else one.ci_width
        return describe_width(pair, width, as_ratio=self._stop.ci_width_ms is None)
