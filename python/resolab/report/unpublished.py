"""The parts of a report in need of tables that a published folder lacks, with a line in place of each.

For: saying so at the place of the part. Not for: finding the missing tables (`store.Dataset.missing_tables`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.report.connections.section import compares_sharing
from resolab.report.findings.findings import Findings
from resolab.report.name_counts import is_about_names
from resolab.report.paths.loads import TABLES_READ
from resolab.report.paths.models import read_models
from resolab.store.connections.loads import TABLES_OF_LOAD_CONNECTIONS
from resolab.store.folder import CALIBRATION

AS_PUBLISHED = "as_published.html"
"""The sentences and tables of the report as published, without its figures."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the report: its section, the tables behind the part, and the names of its figures' files."""

    section: str
    words: str
    tables: Sequence[str]
    files: Sequence[str] = ()
    anchor: str = ""


def lacks(findings: Findings, tables: Sequence[str]) -> bool:
    """Return True when the folder lacks one of the tables."""
    return bool(set(tables) & set(findings.missing_tables))


def lines_of_missing_tables(findings: Findings, folder: Path) -> Mapping[str, Sequence[str]]:
    """List the lines by the section of the report; empty for a dataset with all its tables."""
    lines: dict[str, list[str]] = {}
    for part in _parts(findings) if findings.missing_tables else ():
        if lacks(findings, part.tables):
            lines.setdefault(part.section, []).append(_line(findings, folder, part))
    if findings.missing_tables and not findings.calibrations and 'id="calibration"' in _page_as_published(folder):
        line = f"The link, calibrated: left out, as this published folder has no {CALIBRATION}."
        lines.setdefault("instrument", []).append(f"{line} As published: {AS_PUBLISHED}, section calibration.")
    return lines


def _page_as_published(folder: Path) -> str:
    file = folder / AS_PUBLISHED
    return file.read_text("utf-8") if file.is_file() else ""


def _parts(findings: Findings) -> Iterator[_Part]:
    yield _Part("failures", "Failures and handshakes of DNS queries", ("queries",), (), "failures")
    if findings.live is None:
        yield _Part("dns", "Cold DNS exchanges", ("queries",), ("dns_exchange",), "dns")
        yield _Part("failures", "Hellos, and failed connections at the edge", ("connections",), (), "failures")
    if compares_sharing(findings):
        files = ("load_connections", "connections_over_pages", "connections_by_page")
        yield _Part("failures", "Connections of the loads", TABLES_OF_LOAD_CONNECTIONS, files, "failures")
    if is_about_names(findings):
        yield _Part("heat_map", "Differences by number of names", TABLES_OF_LOAD_CONNECTIONS, ("plt_by_names",))
    if findings.adjusted:
        yield _Part("effects", "Comparisons adjusted after the first byte", ("requests",), ("adjusted",), "effects")
    if findings.live is None and read_models(findings.plan, findings.pages):
        files = ("path_parts", "path_lookups", "path_connections")
        yield _Part("paths", "Waits of the loads", TABLES_READ, files, "paths")
    if findings.live is None:
        yield _Part("instrument", "The instrument's own error", ("path_summaries",), (), "instrument")


def _line(findings: Findings, folder: Path, part: _Part) -> str:
    missing = [table for table in part.tables if table in findings.missing_tables]
    noun = "table" if len(missing) == 1 else "tables"
    line = f"{part.words}: left out, as this published folder has no {noun} {', '.join(missing)}."
    files = [f"figures/{name}.{ending}" for name in part.files for ending in ("csv", "svg")]
    kept = [file for file in files if (folder / file).is_file()]
    if part.anchor and (folder / AS_PUBLISHED).is_file():
        kept.insert(0, f"{AS_PUBLISHED}, section {part.anchor}")
    return f"{line} As published: {'; '.join(kept)}." if kept else line
