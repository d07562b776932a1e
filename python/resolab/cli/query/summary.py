"""The resolvers for people, a row each: medians, spread, and differences with their interval.

For: resolvers and transports side by side. Not for: the statistics (`resolab.extras.queries.summary`).
"""

from collections import Counter
from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from resolab.basics.wording import clean
from resolab.cli.query.bar import bar
from resolab.cli.query.layout import TableColumn, add_legend, lay_out
from resolab.cli.query.list import answers
from resolab.cli.query.words import format_signed, handshake, number, plain
from resolab.extras.queries.summary import PAIRS_AT_MOST, PAIRS_NEEDED, ArmSummary

ANSWERS_AT_MOST = 12


def summary_table(summaries: Sequence[ArmSummary], width: int) -> RenderableType:
    """Return the table with a row for each resolver."""

    def column(title: str, cell: Callable[[ArmSummary], Text], *, right: bool = False, rank: int = 0) -> TableColumn:
        return TableColumn(title, [cell(one) for one in summaries], right, rank)

    columns = [
        column("resolver", lambda one: plain(one.arm.resolver + (" (opening)" if one.arm.opening else ""))),
        column("transport", lambda one: Text(one.arm.dns_transport.value), rank=1),
        column("handshake", _handshakes, rank=2),
        column("queries", lambda one: Text(str(one.count)), right=True),
        column("failed", lambda one: Text(str(one.failures.total() or ""), "red"), right=True),
        column("median ms", lambda one: _time(one, "median"), right=True),
        column("p10", lambda one: _time(one, "p10"), right=True, rank=3),
        column("p90", lambda one: _time(one, "p90"), right=True, rank=3),
        column("min", lambda one: _time(one, "least"), right=True, rank=5),
        column("max", lambda one: _time(one, "most"), right=True, rank=5),
        column("wire ms", lambda one: Text(number(one.wire_exchange_ms)), right=True, rank=4),
        column("difference ms", _difference, right=True),
    ]
    totals = [sum(one.phases_ms.values()) for one in summaries]
    longest = max(totals)

    def draw(one: ArmSummary) -> Callable[[int], Text]:
        return lambda room: bar(list(one.phases_ms.items()), longest, room, unit_ms=1)

    table = lay_out(columns, [draw(one) for one in summaries], width)
    phases = {phase for one in summaries for phase, ms in one.phases_ms.items() if ms > 0}
    body = add_legend(table, phases, wire=any(one.wire_exchange_ms is not None for one in summaries))
    return Group(*_answers(summaries), body, *_failures(summaries), *_explanation(summaries))


def _handshakes(summary: ArmSummary) -> Text:
    found = Counter(handshake(record) for record in summary.arm.records.values())
    found.pop("", None)
    if len(found) == 1 and found.total() == summary.count:
        return Text(next(iter(found)))
    return Text("\n".join(f"{count} {what}" for what, count in found.most_common()))


def _time(summary: ArmSummary, which: str) -> Text:
    if summary.times is None:
        return Text("")
    value: float = getattr(summary.times, which)
    return Text(number(value), "bold" if which == "median" else "")


def _difference(summary: ArmSummary) -> Text:
    estimate = summary.difference
    if estimate is None or estimate.ci_low is None or estimate.ci_high is None:
        return Text("")
    low, high = estimate.ci_low, estimate.ci_high
    value = "?" if estimate.value is None else format_signed(estimate.value)
    text = Text(f"{value} [{format_signed(low)}, {format_signed(high)}]")
    text.append("  ~" if estimate.ci_contains_zero else "   ", "yellow")
    return text


def _answers(summaries: Sequence[ArmSummary]) -> list[RenderableType]:
    """Return the answers, a line for each different answer."""
    found: dict[tuple[str, str, str, str], set[str]] = {}
    for summary in summaries:
        for record in summary.arm.records.values():
            if record.rcode is not None:
                what = ", ".join(answers(record))
                found.setdefault((record.qname, record.qtype, record.rcode, what), set()).add(record.resolver)
    everybody = {summary.arm.resolver for summary in summaries}
    lines: list[RenderableType] = []
    for (qname, qtype, rcode, what), resolvers in list(found.items())[:ANSWERS_AT_MOST]:
        some = ", ".join(sorted(resolvers)) if len(resolvers) < 3 else f"{len(resolvers)} of {len(everybody)} resolvers"
        by_whom = "" if resolvers == everybody else f"  ({some})"
        lines.append(plain(f"{qname} {qtype}: {rcode} {what}{by_whom}"))
    if len(found) > len(lines):
        lines.append(Text(f"and {len(found) - len(lines)} more answers (--json has all)"))
    return [*lines, Text("")] if lines else []


def _failures(summaries: Sequence[ArmSummary]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for summary in summaries:
        for failure, count in summary.failures.most_common():
            of_it = (one for one in summary.arm.records.values() if one.failure and one.failure.value == failure)
            detail = next((one.failure_detail for one in of_it if one.failure_detail), "")
            lines.append(Text(clean(f"{summary.arm.resolver}: {count} x {failure} ({detail})"), "red"))
    return lines


def _explanation(summaries: Sequence[ArmSummary]) -> list[RenderableType]:
    lines = [
        "times: query response time, wanted to complete, set-up included; a timeout counts as longer than all (inf)"
    ]
    compared = [one.difference for one in summaries if one.difference is not None]
    if compared:
        level = f"{compared[0].level:.0%}"
        lines.append(
            f"difference: median of the paired differences from the first row, [{level} interval]; "
            "~ means within noise: the interval has 0"
        )
    if any(estimate.n == PAIRS_AT_MOST for estimate in compared):
        lines.append(f"intervals are from {PAIRS_AT_MOST} of the pairs")
    wanting = [one for one in summaries[1:] if one.difference is None and not one.arm.opening]
    if wanting:
        lines.append(f"no difference is given from fewer than {PAIRS_NEEDED} pairs")
    if any(one.arm.opening for one in summaries):
        lines.append("opening: the queries that had to open the connection the others used")
    return [Text(line, "dim") for line in lines]
