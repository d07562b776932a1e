"""The effects of changes on load times, beside the predictions: paired differences by block, with intervals. Pure.

For: the lines of `--causality` and their table. Not for: measuring (`trials`).
"""

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from benches.clones.changes import ChangedModel, ModelChange
from benches.clones.lines import Line
from benches.clones.trials import Times
from resolab.basics.errors import ConfigurationError
from resolab.stats import Estimate, Sample, estimate_paired_difference

CLOSE_MS = 10.0
"""The limit for a close prediction; a close prediction agrees with any interval: the closed form is of first order."""
VISIBLE_MS = 1.0
"""The smallest effect of interest, in ms."""
_WORDS = {
    ModelChange.SERVER_ON: "server, on the path",
    ModelChange.SERVER_OFF: "server, off the path",
    ModelChange.SCRIPT: "script, on the path",
}


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """A measured change of a page: a line of the file."""

    page: str
    change: ModelChange
    what: str
    predicted_ms: float
    graph_load_ms: float
    """The graph's load time of the unchanged page, in ms."""
    changed_ms: tuple[float | None, ...]
    """The page load times by block; `None` for a failed load."""
    same_ms: tuple[float | None, ...]

    @property
    def pairs(self) -> Sequence[tuple[float, float]]:
        """The load times of blocks with both loads complete: changed, unchanged."""
        both = zip(self.changed_ms, self.same_ms, strict=True)
        return [(one, other) for one, other in both if one is not None and other is not None]

    @property
    def measured(self) -> Estimate:
        """The median of the differences by block."""
        changed, same = [one for one, _ in self.pairs], [other for _, other in self.pairs]
        return estimate_paired_difference(Sample.exact(changed), Sample.exact(same))

    @property
    def agrees(self) -> bool | None:
        """Return True when the interval holds the prediction, or the difference is close; `None` without a value."""
        found = self.measured
        if found.value is None:
            return None
        holds = (
            found.ci_low is not None
            and found.ci_high is not None
            and found.ci_low <= self.predicted_ms <= found.ci_high
        )
        return holds or abs(found.value - self.predicted_ms) <= CLOSE_MS


def effects_of(page: str, changed: Sequence[ChangedModel], times: Times, graph_load_ms: float) -> list[Effect]:
    """Compare each changed model's loads with the unchanged model's."""
    same = times[ModelChange.SAME]
    return [
        Effect(
            page=page,
            change=one.change,
            what=one.what,
            predicted_ms=round(one.predicted_ms, 3),
            graph_load_ms=round(graph_load_ms, 3),
            changed_ms=tuple(times[one.change].get(block) for block in sorted(same)),
            same_ms=tuple(same[block] for block in sorted(same)),
        )
        for one in changed
        if one.change is not ModelChange.SAME
    ]


def is_effect(line: Mapping[str, object]) -> bool:
    """Return True when a line belongs to this experiment, not to a load's fidelity."""
    return "predicted_ms" in line


def table(lines: Sequence[Line]) -> str:
    """Write markdown, ready for a page of the documentation."""
    try:
        effects = [msgspec.convert(line, Effect) for line in lines]
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"failed to read a line, which is no measured change: {error}") from error
    rows = [
        "| page | load ms (graph) | change | predicted ms | measured ms | agrees |",
        "| --- | --: | --- | --: | --: | --- |",
        *map(_row, effects),
    ]
    return "\n".join([*rows, "", *_notes(effects)])


def _row(one: Effect) -> str:
    found = one.measured
    same = [value for value in one.same_ms if value is not None]
    load = f"{median(same):,.0f}" if same else "none ended"
    left_out = len(one.same_ms) - len(one.pairs)
    measured = _interval(found) + (f" ({left_out} of {len(one.same_ms)} left out)" if left_out else "")
    agrees = {True: "yes", False: "**no**", None: "not told"}[one.agrees]
    cells = (
        f"`{one.page}`",
        f"{load} ({one.graph_load_ms:,.0f})",
        f"{_WORDS[one.change]}: {one.what}",
        f"{one.predicted_ms:.1f}",
        measured,
        agrees,
    )
    return f"| {' | '.join(cells)} |"


def _interval(found: Estimate) -> str:
    if found.value is None:
        return "no pair"
    if found.ci_low is None or found.ci_high is None:
        return f"{found.value:.1f} (too few pairs for an interval)"
    return f"{found.value:.1f} [{found.ci_low:.1f}, {found.ci_high:.1f}]"


def _notes(effects: Sequence[Effect]) -> Sequence[str]:
    judged = [one.agrees for one in effects if one.agrees is not None]
    agreed = (
        f"{sum(judged)} of {len(judged)} agree: the interval (95 %, median of paired differences) holds the "
        f"prediction, or it is within {CLOSE_MS:.0f} ms."
    )
    reaches = [(width / 2, len(one.pairs)) for one in effects if (width := one.measured.ci_width) is not None]
    if not reaches:
        return [agreed]
    reach_ms, pairs = median(half for half, _ in reaches), median(count for _, count in reaches)
    # Intervals shrink with the square root of the pairs.
    needed = max(pairs, pairs * reach_ms**2 / VISIBLE_MS**2)
    seen = (
        f"Intervals reach {reach_ms:.1f} ms to either side (median, {pairs:.0f} pairs): less is not seen in so few "
        f"blocks. For {VISIBLE_MS:.0f} ms it takes some {needed:,.0f}."
    )
    return [agreed, seen]
