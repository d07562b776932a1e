"""The results of a visit in sentences. Not for: the table (`screen`) or the verdicts (`resolab.extras.visit`)."""

import math
from collections.abc import Sequence

from resolab.extras.visit import JOINT_LEVEL, MARGIN_MS, ConfigurationSummary, ResolverConfiguration, VisitVerdict
from resolab.stats import Estimate

VERDICTS = {
    VisitVerdict.BASELINE: "",
    VisitVerdict.FASTER: "faster",
    VisitVerdict.SLOWER: "slower",
    VisitVerdict.ALIKE: "alike",
    VisitVerdict.NOISE: "noise",
    VisitVerdict.TOO_FEW: "too few to tell",
}


def milliseconds(value: float | None) -> str:
    """Format a time; inf for a time beyond any, due to failed loads."""
    return "" if value is None else "inf" if math.isinf(value) else f"{value:.1f}"


def difference(estimate: Estimate | None) -> str:
    """Format a difference with its interval."""
    if estimate is None:
        return ""
    value = _format_signed(estimate.value) if estimate.value is not None else _bound(estimate)
    if estimate.ci_low is None or estimate.ci_high is None:
        return value
    return f"{value} [{_format_signed(estimate.ci_low)}, {_format_signed(estimate.ci_high)}]"


def _bound(estimate: Estimate) -> str:
    low = estimate.low
    return "?" if low is None or math.isinf(low) else f"above {_format_signed(low)}"


def _format_signed(value: float) -> str:
    return "+inf" if value == math.inf else "-inf" if value == -math.inf else f"{value:+.1f}"


def headline(found: Sequence[ConfigurationSummary], baseline: ResolverConfiguration) -> str:
    """Return the fastest configuration and its difference from the baseline as text.

    The text also names the configurations not distinguishable from the fastest.
    """
    ranked = [one for one in found if one.place is not None]
    if not ranked:
        return "No load came through: nothing can be said of any resolver."
    best = ranked[0]
    label = best.configuration.label
    if len(ranked) == 1:
        return f"{label} alone loaded pages: there is nothing to compare it with."
    verdicts = {one.verdict for one in ranked} - {VisitVerdict.BASELINE}
    if verdicts == {VisitVerdict.TOO_FEW}:
        return f"Too few to tell: {label} was fastest, and that may be noise."
    if best.verdict is not VisitVerdict.FASTER:
        return _none_faster(ranked, baseline)
    others = [one.configuration.label for one in ranked[1:] if not one.is_told_from_fastest]
    besides = f" Not told from it: {', '.join(others)}." if others else ""
    told = difference(best.difference)
    return f"Fastest for these pages: {label}, {told} ms against {baseline.label} ({JOINT_LEVEL:.0%}).{besides}"


def _none_faster(ranked: Sequence[ConfigurationSummary], baseline: ResolverConfiguration) -> str:
    slower = [one.configuration.label for one in ranked if one.verdict is VisitVerdict.SLOWER]
    if not slower:
        return f"No difference beyond noise from {baseline.label} for these pages."
    return f"For these pages none is faster than {baseline.label} beyond noise. Slower: {', '.join(slower)}."


def notes(found: Sequence[ConfigurationSummary], baseline: ResolverConfiguration) -> list[str]:
    """Return the notes for reading the table."""
    interval = f"[{JOINT_LEVEL:.0%} for all together, of these pages alone]"
    lines = [f"difference: paired, from {baseline.label} {interval}; noise: it has 0; alike: within {MARGIN_MS:g} ms"]
    if any(one.first_plt_ms is not None for one in found):
        lines.append("first: median of the first round, not compared: resolvers then fill their caches")
    if any(one.look_up_ms is not None or one.opening_ms is not None for one in found):
        lines.append("opening, look-up: our own queries with and without a connection to open")
    if any(one.failures for one in found):
        lines.append("failed: longer than the limit, but for the browser's own and left_alone, which say nothing")
    return lines


def failures(found: Sequence[ConfigurationSummary]) -> list[str]:
    """Return the failures, a line for each class."""
    counts: dict[str, dict[str, int]] = {}
    for one in found:
        for what, count in one.failures.items():
            counts.setdefault(what, {})[one.configuration.label] = count
    return [
        f"{sum(by.values())} x {what}: "
        + ("all resolvers" if len(by) == len(found) else ", ".join(f"{label} ({count})" for label, count in by.items()))
        for what, by in counts.items()
    ]
