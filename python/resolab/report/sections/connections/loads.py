"""The connections of loads as a table: their sharing and their set-up.

For: medians and ranges over loads. Not for: the definition of a load's connection (`store.connections.loads`), or
connection sharing by browsers on modelled pages (`paths.section`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from resolab.plan import Condition
from resolab.report.findings.findings import Findings
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, number_text
from resolab.report.plots.save import Value
from resolab.store.connections.loads import LoadConnectionsRow

TITLE = "Connections that carried each condition's loads"
NOTE = (
    "Of the measured loads that succeeded, as the server saw them: the median, and the least and the most where loads "
    "differ. A connection counts if a request came on it; one of several names is shared by them. Unused ones were "
    "opened for a name of the page and never asked. Others' connections are those opened for another name. Of a "
    "gateway's requests, why they went on their connection: the name's own, or another one by address, by ORIGIN frame "
    "or by certificate alone (docs/method/gateway.md)."
)
_COUNTS = (
    ("names", "names_count"),
    ("requests", "requests_count"),
    ("connections", "connections_count"),
    ("full", "full_count"),
    ("resumed", "resumed_count"),
    ("0-RTT", "zero_rtt_count"),
    ("of several names", "of_several_names_count"),
    ("unused", "unused_count"),
    ("requests on others' connections", "shared_requests_count"),
    ("own connection", "own_name_requests_count"),
    ("by address", "address_requests_count"),
    ("by ORIGIN", "origin_requests_count"),
    ("by certificate", "certificate_requests_count"),
)
_NAMED = ("page", "profile", "condition", "resolver path")
_COLUMNS = (*_NAMED, "loads", *(label for label, _ in _COUNTS), "document asked for with its name")
_WORDS = frozenset((*range(len(_NAMED)), len(_COLUMNS) - 1))


def connection_table(findings: Findings) -> NamedTable | None:
    """List the connections of each condition's loads; `None` without known connections."""
    if not findings.load_connections:
        return None
    of_condition: dict[str, list[LoadConnectionsRow]] = {}
    for one in findings.load_connections:
        of_condition.setdefault(one.condition, []).append(one)
    told = [(one, of_condition[one.id]) for one in findings.plan.conditions() if one.id in of_condition]
    rows = [(*_list_names(findings, condition), *_cells(loads)) for condition, loads in told]
    kept = [_build_row(condition, loads) for condition, loads in told]
    return NamedTable("load_connections", TITLE, Table(_COLUMNS, rows, _WORDS), kept, NOTE)


def _cells(loads: Sequence[LoadConnectionsRow]) -> tuple[str, ...]:
    spreads = (spread(getattr(load, name) for load in loads) for _, name in _COUNTS)
    return (str(len(loads)), *spreads, _guesses(loads))


def _list_names(findings: Findings, condition: Condition) -> tuple[str, ...]:
    label = name_combination(findings, condition)
    return condition.page, condition.profile, label, str(condition.resolver_path)


def spread(values: Iterable[float | None], *, signed: bool = False) -> str:
    """Format the median of counts, with the least and the greatest when they differ."""
    known = [value for value in values if value is not None]
    if not known:
        return ABSENT
    middle, least, most = (
        number_text(value, 1, signed=signed).removesuffix(".0") for value in (median(known), min(known), max(known))
    )
    return middle if least == most else f"{middle} ({least} to {most})"


def _guesses(loads: Sequence[LoadConnectionsRow]) -> str:
    """Count the speculative requests by result, with the reasons for discarding and the wasted bytes."""
    told = Counter(
        f"{load.speculation}: {load.discarded_because}" if load.discarded_because else load.speculation
        for load in loads
        if load.speculation is not None
    )
    if not told:
        return ABSENT
    wasted = sum(load.discarded_body_bytes or 0 for load in loads)
    words = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in sorted(told.items()))
    return f"{words} ({wasted} B for nothing)" if wasted else words


def _build_row(condition: Condition, loads: Sequence[LoadConnectionsRow]) -> dict[str, Value]:
    """Return a row of the table's CSV file: medians as numbers."""
    row: dict[str, Value] = {"condition": condition.id, "loads_count": len(loads)}
    for _, name in _COUNTS:
        known = [value for load in loads if (value := getattr(load, name)) is not None]
        row[name] = median(known) if known else None
    row["discarded_body_bytes"] = sum(load.discarded_body_bytes or 0 for load in loads)
    return row
