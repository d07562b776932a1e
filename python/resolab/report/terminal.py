"""A few lines for the end of a run.

For: what a person wants to see before opening the report; a rich renderable, printed by the command line.
Not for: everything.
"""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from resolab.plots import estimate_text, interval_text, transport_label
from resolab.report.analysis import analyse
from resolab.report.findings import Findings
from resolab.report.labels import baseline_label, combination_of
from resolab.store import open_dataset


def terminal_summary(folder: Path) -> RenderableType:
    """Sum a dataset up; its tables must have been made."""
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    parts: list[RenderableType] = [_head(findings), _failures(findings)]
    if findings.exchanges:
        parts.append(_exchanges(findings))
    if any(comparison.change.n for _, comparison in findings.compared):
        parts.append(_loads(findings))
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


def _exchanges(findings: Findings) -> Table:
    table = Table(title="Cold DNS exchange", title_justify="left", box=None, pad_edge=False)
    for column in ("profile", "transport", "n", "median ms", "k", "c ms"):
        table.add_column(column, justify="left" if column in {"profile", "transport"} else "right")
    for one in findings.exchanges:
        table.add_row(
            one.profile,
            transport_label(one.dns_transport),
            str(one.n),
            estimate_text(one.median_ms, 2),
            str(one.expected_round_trips),
            f"{estimate_text(one.remainder_ms, 2)} {interval_text(one.remainder_ms, 2)}",
        )
    return table


def _loads(findings: Findings) -> Table:
    title = f"Page load time against {baseline_label(findings)} (median, 95 % interval)"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    words = ("page", "profile", "condition")
    for column in (*words, "PLT ms", "difference ms", "change"):
        table.add_column(column, justify="left" if column in words else "right", no_wrap=column != "condition")
    for one, comparison in findings.compared:
        difference, change = comparison.difference_ms, comparison.change
        table.add_row(
            one.condition.page,
            one.condition.profile,
            combination_of(findings, one.condition),
            estimate_text(one.plt_ms),
            f"{estimate_text(difference, signed=True)} {interval_text(difference, signed=True)}",
            estimate_text(change, scale=100, signed=True) + (" %" if change.n else ""),
        )
    return table
