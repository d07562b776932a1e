"""The report's tables of findings: columns and printed cells.

For: rounding and words. Not for: HTML (`pages`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resolab.basics.protocols import has_handshake
from resolab.basics.records import TRIAL_FLAG_MEANINGS, PageFailure
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import Findings
from resolab.report.findings.resolvers import list_resolvers, several_caches, several_distances, several_programs
from resolab.report.parts.failure_columns import FailureColumn, find_failure_columns
from resolab.report.plots import (
    ABSENT,
    estimate_text,
    interval_text,
    level_label,
    mode_label,
    number_text,
    transport_label,
)
from resolab.stats import Estimate

if TYPE_CHECKING:
    from resolab.store.rows import FailureRow, FlagRow, HandshakeRow


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to print."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[int] = field(default_factory=frozenset)
    """Positions of the columns with words; the other columns hold numbers."""


_PLACES = ("profile", "network")
_OF_THE_LAB = frozenset(("closed form ms", "handshake reached", "asked for", "reached"))
"""Columns with requested values or settings, unavailable on the live network."""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> Table:
    return Table(columns, rows, frozenset(range(words)))


def _find_meaning(flag: str) -> str:
    """Return the meaning of a flag; flags of other versions of resolab have no known meaning."""
    sentence = TRIAL_FLAG_MEANINGS.get(flag, "")
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def rename_live_columns(table: Table) -> Table:
    """Rename profile to vantage point, and leave out the columns of an emulated network."""
    kept = [place for place, column in enumerate(table.columns) if column not in _OF_THE_LAB]
    columns = ["vantage point" if table.columns[place] in _PLACES else table.columns[place] for place in kept]
    rows = [[row[place] for place in kept] for row in table.rows]
    return Table(columns, rows, frozenset(new for new, place in enumerate(kept) if place in table.words))


def failure_table(findings: Findings) -> Table:
    """Count failures by class, with the counts by condition."""
    of_studies = find_failure_columns()
    groups: dict[tuple[str, str], list[FailureRow]] = {}
    for one in findings.failures:
        groups.setdefault((one.kind, one.failure), []).append(one)
    rows = [
        (
            kind,
            failure,
            *(_describe_by_study(column, kind, failure) for column in of_studies),
            str(sum(one.count for one in found)),
            ", ".join(f"{one.condition} {one.count}" for one in found),
            next((one.detail for one in found if one.detail), ""),
        )
        for (kind, failure), found in groups.items()
    ]
    titles = ("what", "failure", *(column.title for column in of_studies))
    columns = (*titles, "count", "by condition", "for example")
    return Table(columns, rows, frozenset(range(len(columns))) - {len(titles)})


def _describe_by_study(column: FailureColumn, kind: str, failure: str) -> str:
    """Return a study's word for the failure of a page load; a load that our manners left alone has none."""
    return column.describe(failure) if kind == "page load" and failure != PageFailure.LEFT_ALONE else ""


def flag_table(findings: Findings) -> Table:
    """Count flagged trials, with the counts by condition."""
    groups: dict[str, list[FlagRow]] = {}
    for one in findings.flags:
        groups.setdefault(one.flag, []).append(one)
    rows = [
        (
            flag,
            _find_meaning(flag),
            str(sum(one.count for one in found)),
            ", ".join(f"{one.condition} {one.count}" for one in found),
        )
        for flag, found in groups.items()
    ]
    return Table(("flag", "meaning", "trials", "by condition"), rows, frozenset((0, 1, 3)))


def handshake_table(findings: Findings) -> Table:
    """Show actual handshakes beside requested handshakes."""
    groups: dict[tuple[str, str, str, str], list[HandshakeRow]] = {}
    for one in findings.handshakes:
        path = f" ({one.resolver_path})" if one.resolver_path else ""
        where = transport_label(one.dns_transport) + path
        groups.setdefault((one.kind, _name_browser(one), where, one.requested_handshake_mode), []).append(one)
    rows = []
    for (kind, browser, where, asked), found in groups.items():
        total = sum(one.count for one in found)
        reached = sum(one.count for one in found if one.handshake_mode == asked)
        unknown = "not known" if is_live(findings.plan) else "none"
        happened = ", ".join(f"{mode_label(one.handshake_mode or unknown)} {one.count}" for one in found)
        rows.append((kind, browser, where, mode_label(asked), happened, str(total), f"{reached / total:.0%}"))
    return _table(("what", "browser, HTTP", "DNS transport", "asked for", "happened", "n", "reached"), rows, 5)


def _name_browser(one: "HandshakeRow") -> str:
    if one.browser is None:
        return "none"
    version = one.http_version.upper() if one.http_version else ""
    # Forced is the rule; another way decides whether a page load speaks HTTP/3 at all.
    found = level_label("h3_discovery", one.h3_discovery) if one.h3_discovery not in {None, "forced"} else ""
    return ", ".join(part for part in (level_label("browser", one.browser), found or version) if part)


def exchange_table(findings: Findings) -> Table:
    """List the cold DNS exchanges against the closed form, separately for each resolver."""
    among = list_resolvers(findings.exchanges)
    distances, caches, programs = several_distances(among), several_caches(among), several_programs(among)
    resolver = (*(("software",) * programs), *(("resolver beyond the link",) * distances), *(("cache",) * caches))
    columns = (
        "profile", *resolver, "transport", "handshake", "n", "failed", "median ms", "RTT ms", "round trips k",
        "median / RTT", "c = median - k x RTT, ms", "method",
    )  # fmt: skip
    rows = [
        (
            one.profile,
            *((one.resolver_software,) * programs),
            *((f"+{one.resolver_extra_rtt_ms:g} ms",) * distances),
            *((one.resolver_cache,) * caches),
            transport_label(one.dns_transport),
            mode_label(one.requested_handshake_mode) if has_handshake(one.dns_transport) else "none",
            str(one.n),
            str(one.failed_count),
            both_text(one.median_ms, 2),
            number_text(one.rtt_ms, 2),
            str(one.expected_round_trips),
            estimate_text(one.median_ms, 3, scale=1 / one.rtt_ms) if one.rtt_ms else ABSENT,
            both_text(one.remainder_ms, 2),
            str(one.median_ms.method),
        )
        for one in findings.exchanges
    ]
    return _table(columns, rows, 3 + len(resolver))


def both_text(estimate: Estimate, digits: int = 1, *, signed: bool = False) -> str:
    """Format an estimate with its interval."""
    value = estimate_text(estimate, digits, signed=signed)
    return f"{value} {interval_text(estimate, digits, signed=signed)}".rstrip()


def percent_text(change: Estimate) -> str:
    """Format a relative change in per cent with its interval."""
    if not change.n:
        return ABSENT
    value, interval = (text(change, scale=100, signed=True) for text in (estimate_text, interval_text))
    return f"{value} % {interval}".rstrip()


def lateness_table(findings: Findings) -> Table:
    """List the path's own error per profile, and per browser if the plan has several."""
    columns = (
        "profile", "windows", "packets", "lateness p50 µs", "p99 µs (median window)", "p99 µs (worst window)",
        "max µs", "device drops", "queue drops", "CoDel drops", "policer drops", "loss drops", "outage drops",
    )  # fmt: skip
    rows = [
        (
            f"{one.profile}, {level_label('browser', one.browser)}" if "browser" in findings.varying else one.profile,
            str(one.windows_count),
            str(one.packets_count),
            _microseconds(one.lateness_p50_median_ns),
            _microseconds(one.lateness_p99_median_ns),
            _microseconds(one.lateness_p99_worst_ns),
            _microseconds(one.lateness_max_ns),
            str(one.dropped_device_count),
            str(one.dropped_queue_count),
            str(one.dropped_codel_count),
            str(one.dropped_policer_count),
            str(one.dropped_loss_count),
            str(one.dropped_outage_count),
        )
        for one in findings.lateness
    ]
    return _table(columns, rows, 1)


def _microseconds(time_ns: float | None) -> str:
    return number_text(None if time_ns is None else time_ns / 1e3)
