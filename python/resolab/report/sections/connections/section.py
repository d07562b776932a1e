"""The tables and figures of loads' connections, for plans about a gateway or about connection sharing.

For: choosing tables and figures, as blocks of the section of failures and handshakes. Not for: their content.
"""

from resolab.basics.records import ResolverPath
from resolab.report.findings.findings import Findings
from resolab.report.sections.connections.loads import connection_table
from resolab.report.sections.connections.page_effects import changes_table, page_changes, page_drawing
from resolab.report.sections.missing import Part
from resolab.report.sections.section import SectionContent
from resolab.store.connections.loads import TABLES_OF_LOAD_CONNECTIONS

CONNECTIONS = Part(
    "Connections of the loads",
    TABLES_OF_LOAD_CONNECTIONS,
    ("load_connections", "connections_over_pages", "connections_by_page"),
    "failures",
)


def connection_content(findings: Findings) -> SectionContent:
    """Build the available tables and figures: by condition and, for sampled pages, by page."""
    if not _is_about_connections(findings):
        return SectionContent([])
    changes = page_changes(findings)
    made = (connection_table(findings), changes_table(findings, changes), page_drawing(findings, changes))
    return SectionContent([one for one in made if one is not None])


def compares_sharing(findings: Findings) -> bool:
    """Return True when the conditions differ in their rule of sharing connections, or a gateway has a rule."""
    conditions = findings.plan.conditions()
    has_gateway = any(one.resolver_path is ResolverPath.GATEWAY for one in conditions)
    return has_gateway or len({one.connection_sharing for one in conditions}) > 1


def _is_about_connections(findings: Findings) -> bool:
    return compares_sharing(findings) or any(
        one.own_name_requests_count is not None for one in findings.load_connections
    )
