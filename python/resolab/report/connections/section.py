"""The report's section on loads' connections, for plans about a gateway or about connection sharing.

For: choosing tables and figures. Not for: their content.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.plots import Drawing
from resolab.records import ResolverPath
from resolab.report.connections.loads import connection_table
from resolab.report.connections.page_effects import changes_table, page_changes, page_drawing
from resolab.report.findings.findings import Findings
from resolab.report.named_table import NamedTable


@dataclass(frozen=True, slots=True)
class ConnectionSection:
    """Tables and figures of the section, in order."""

    tables: Sequence[NamedTable]
    drawings: Sequence[Drawing]


def connection_section(findings: Findings) -> ConnectionSection:
    """Build the available tables and figures: by condition and, for sampled pages, by page."""
    if not _is_about_connections(findings):
        return ConnectionSection([], [])
    changes = page_changes(findings)
    tables = (connection_table(findings), changes_table(findings, changes))
    drawings = (page_drawing(findings, changes),)
    return ConnectionSection([one for one in tables if one is not None], [one for one in drawings if one is not None])


def compares_sharing(findings: Findings) -> bool:
    """Return True when the conditions differ in their rule of sharing connections, or a gateway has a rule."""
    conditions = findings.plan.conditions()
    has_gateway = any(one.resolver_path is ResolverPath.GATEWAY for one in conditions)
    return has_gateway or len({one.connection_sharing for one in conditions}) > 1


def _is_about_connections(findings: Findings) -> bool:
    return compares_sharing(findings) or any(
        one.own_name_requests_count is not None for one in findings.load_connections
    )
