"""The section of a plan's own software: programs, their work in trials, and their ends.

For: plans with `[software.NAME]`. Not for: times of loads and exchanges behind the software (`loads`, `dns`).
"""

from collections.abc import Mapping
from typing import Any

from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, number_text, transport_label
from resolab.report.sections.missing import Part, note_missing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Section, SectionContent
from resolab.store.manifest import SoftwareEntry

_PART = Part("The plan's own software", ("software",), anchor="software")
_COLUMNS = (
    "software", "program", "version", "transport", "last words", "trials", "ends", "processor ms", "memory MiB",
)  # fmt: skip
_WORDS = frozenset(range(5))
LONGEST_WORDS = 120
_STATEMENT = """
SELECT name, dns_transport, count(*) AS trials_count, count(last_words) AS ends_count,
    median(processor_time_ns) AS processor_time_ns, median(memory_bytes) AS memory_bytes,
    last(last_words[-1] ORDER BY trial_id) FILTER (last_words IS NOT NULL) AS last_words
FROM software JOIN trials USING (trial_id) GROUP BY ALL ORDER BY ALL
"""
_NOTE = (
    "Medians over trials, by the transport of the trial's condition. Processor time: all processes of the program from "
    "the trial's begin to its end. Memory: at the trial's end, shared memory once. Ends: trials with the flag "
    "software_ended; last words: the last line of output at the last end."
)


def _build(reading: Reading) -> SectionContent:
    missing = note_missing(reading, _PART)
    if missing:
        return SectionContent(missing)
    entries = {name: entry for start in reading.findings.manifest.starts for name, entry in start.software.items()}
    rows = reading.dataset.sql(_STATEMENT)
    if not rows:
        return SectionContent([])
    table = Table(_COLUMNS, [_print_row(row, entries.get(row["name"])) for row in rows], _WORDS)
    return SectionContent([NamedTable("software", "The plan's own software", table, rows, _NOTE)])


def _print_row(row: Mapping[str, Any], entry: SoftwareEntry | None) -> list[str]:
    processor_ns, memory_bytes = row["processor_time_ns"], row["memory_bytes"]
    return [
        row["name"],
        ABSENT if entry is None else f"{entry.program} ({entry.program_sha256[:12]})",
        (entry and entry.version) or ABSENT,
        transport_label(row["dns_transport"]),
        (row["last_words"] or ABSENT)[:LONGEST_WORDS],
        str(row["trials_count"]),
        str(row["ends_count"]),
        ABSENT if processor_ns is None else number_text(processor_ns / 1e6),
        ABSENT if memory_bytes is None else number_text(memory_bytes / 2**20),
    ]


SECTION = Section(
    id="software",
    title="The plan's own software",
    link="Software",
    applies=lambda reading: bool(reading.plan.software),
    build=_build,
)
