"""Whether a campaign has seen enough: the width of every comparison's interval after whole blocks.

For: the plan's stopping rule, on the same values and seeds as the report. Not for: the interval itself (`stats`), or
whether stopping by it keeps its level (docs/method/statistics.md).

A look depends on nothing but the finished blocks: a campaign that is killed and resumed looks at the same ones and ends
where it would have ended.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from resolab.plan import ComparisonKind, Condition, Plan, PlannedComparison, Stop, stream_seed
from resolab.records import ConnectionState, DnsTransport, HandshakeMode, Record
from resolab.stats import STOPPING_LEVEL, Estimate, Sample, paired_difference, pairs, relative_change, width_reached
from resolab.store import WidthReached
from resolab.store.outcomes import PLT, Contribution, Outcome


@dataclass(frozen=True, slots=True)
class Look:
    """The intervals' widths after some blocks."""

    blocks: int
    reached: bool
    widths: tuple[WidthReached, ...]
    widest: float
    """Infinite while a comparison has no interval or an unbounded one."""
    widest_name: str


class Precision:
    """One outcome of a campaign's page loads, as far as the stopping rule needs them."""

    def __init__(self, plan: Plan, stop: Stop, seed: int, outcome: Outcome = PLT) -> None:
        self._stop, self._seed, self._outcome = stop, seed, outcome
        self._comparisons = [one for one in plan.comparisons() if one.kind is not ComparisonKind.AA]
        self._exchanges = {one.id: _exchange_of(one) for one in plan.conditions()}
        self._loads: dict[str, dict[int, Contribution]] = {}

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Take in what a finished trial contributes to the outcome."""
        told = self._outcome.contribution_of_records(list(records), self._exchanges.get(condition))
        if told is not None:
            self._loads.setdefault(condition, {})[block] = told

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
            reached=all(width_reached(one, asked) for _, one in estimates),
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
        own, other = self._of(one.treatment, blocks), self._of(one.baseline, blocks)
        treated, compared = pairs(sorted(own), sorted(other))
        treatment, baseline = _sample(own).take(treated), _sample(other).take(compared)
        if self._stop.ci_width_ms is not None:
            return paired_difference(treatment, baseline, level=STOPPING_LEVEL)
        seed = stream_seed(self._seed, self._outcome.change_stream, one.id)
        return relative_change(treatment, baseline, seed=seed, level=STOPPING_LEVEL)

    def _of(self, condition: Condition, blocks: int) -> dict[int, Contribution]:
        loads = self._loads.get(condition.id, {})
        return {block: load for block, load in loads.items() if block < blocks}

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


def _exchange_of(one: Condition) -> DnsTransport | None:
    """Name the transport of the cold exchange that a condition's sum is made of, if it has a sum."""
    cold = one.dns_connection_state is ConnectionState.COLD
    return one.dns_transport if cold and one.requested_dns_handshake_mode is HandshakeMode.FULL else None


def _sample(loads: dict[int, Contribution]) -> Sample:
    ordered = [loads[block] for block in sorted(loads)]
    return Sample.censored([one.value_ms for one in ordered], [one.limit_ms for one in ordered])
