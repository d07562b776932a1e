"""A short summary for the end of a run.

For: the essentials before opening the report; a rich renderable, printed by the command line. Not for: the complete
results.
"""

from rich.console import Group, RenderableType
from rich.text import Text

from resolab.plots import estimate_text, interval_text, number_text, transport_label
from resolab.report.findings.findings import ConditionResult, Findings, OutcomeFindings
from resolab.report.findings.interval_level import level_of_loads, level_text
from resolab.report.labels import baseline_label, exchange_place, name_combination
from resolab.report.live.circumstances import live_lines
from resolab.report.live.terminal import lookups_for_terminal
from resolab.report.narrow_table import TerminalTable
from resolab.stats import Estimate
from resolab.store.outcomes import PLT, LoadOutcome
from resolab.wording import format_count

_AGAINST = "against the baseline"


def terminal_summary(findings: Findings, outcome: LoadOutcome = PLT) -> RenderableType:
    """Summarise a dataset, with one outcome of its page loads."""
    found = findings.find_outcome(outcome)
    parts: list[RenderableType] = [_head(findings), *map(Text, live_lines(findings)), _failures(findings)]
    if findings.exchanges:
        parts.append(_exchanges(findings))
    if findings.live is not None and findings.live.lookups:
        parts.append(lookups_for_terminal(findings.live))
    if found is not None and any(comparison.change.n for _, comparison in found.compared):
        parts.append(_loads(findings, found))
    return Group(*parts)


def _head(findings: Findings) -> Text:
    manifest = findings.manifest
    count = f"{findings.trials_count} of {manifest.trials_planned_count} trials"
    return Text.assemble((manifest.plan, "bold"), f"  {manifest.status}, {count}")


def _failures(findings: Findings) -> Text:
    counts: dict[str, int] = {}
    named = [(f"{one.kind}: {one.failure}", one.count) for one in findings.failures]
    named += [(f"flag {one.flag}", one.count) for one in findings.flags]
    for name, count in named:
        counts[name] = counts.get(name, 0) + count
    drops = sum(one.dropped_device_count for one in findings.lateness)
    if drops:
        counts["packets lost by the instrument"] = drops
    if findings.manifest.instrument_failures_count:
        counts["trials repeated after an instrument failure"] = findings.manifest.instrument_failures_count
    if not counts:
        return Text("Failures and flags: none", style="green")
    listed = ", ".join(f"{what} {count}" for what, count in counts.items())
    return Text(f"Failures and flags: {listed}", style="red")


def _exchanges(findings: Findings) -> TerminalTable:
    rows = [
        (
            f"{exchange_place(findings, one)}, {transport_label(one.dns_transport)}",
            str(one.n),
            estimate_text(one.median_ms, 2),
            str(one.expected_round_trips),
            f"{estimate_text(one.remainder_ms, 2)} {interval_text(one.remainder_ms, 2)}",
        )
        for one in findings.exchanges
    ]
    columns = ("profile, transport", "n", "median ms", "k", "c ms")
    return TerminalTable("Cold DNS exchange", columns, frozenset({0}), rows)


def _loads(findings: Findings, found: OutcomeFindings) -> TerminalTable:
    level, phrase = level_text(level_of_loads(findings.plan)), found.outcome.phrase
    title = (
        f"{phrase[0].upper()}{phrase[1:]} against {baseline_label(findings)}: median and {level} interval, range of "
        "the loads that ended"
    )
    unit = found.outcome.unit
    where = "page, vantage point, condition" if findings.live else "page, profile, condition"
    columns = (where, f"{found.outcome.label} {unit}", f"range {unit}", "n", "failed", _AGAINST)
    rows: list[tuple[str, ...]] = []
    for place in dict.fromkeys((one.condition.page, one.condition.profile) for one in found.conditions):
        those = [one for one in found.conditions if (one.condition.page, one.condition.profile) == place]
        rows.append((", ".join(place),))
        rows += [_load(findings, one) for one in sorted(those, key=lambda one: one.comparison is not None)]
    return TerminalTable(title, columns, frozenset({0, len(columns) - 1}), rows)


def _load(findings: Findings, one: ConditionResult) -> tuple[str, ...]:
    low_high = "" if one.range_ms is None else " … ".join(number_text(end) for end in one.range_ms)
    return (
        f"  {name_combination(findings, one.condition)}",
        f"{estimate_text(one.median_ms)} {interval_text(one.median_ms)}",
        low_high,
        str(one.median_ms.n),
        str(one.failed_count) + (f" + {one.unusable_count} lost" if one.unusable_count else ""),
        "baseline" if one.comparison is None else times_text(one.comparison.change),
    )


def times_text(change: Estimate) -> str:
    """Format the ratio of the medians, with its interval, as a multiple of the baseline."""
    if change.value is None:
        return estimate_text(change, scale=100, signed=True) + (" %" if change.n else "")
    if change.ci_low is None or change.ci_high is None:
        return f"{format_count(change.n, 'pair')}: too few to tell"
    low, high = (number_text(1 + end, 2) for end in (change.ci_low, change.ci_high))
    unsure = " (interval contains 1)" if change.ci_contains_zero else ""
    return f"{number_text(1 + change.value, 2)} times as long [{low}, {high}]{unsure}"
