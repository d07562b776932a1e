"""The section of failures and flags, with the handshakes and connections that happened.

For: everything that marred a run, first and in one place. Not for: counting (`findings`), or tables (`parts.tables`).
"""

from collections.abc import Iterator

from resolab.report.parts.failure_sentences import failures_line
from resolab.report.parts.tables import failure_table, flag_table, handshake_table
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.connections.hellos import hello_table
from resolab.report.sections.connections.section import CONNECTIONS, compares_sharing, connection_content
from resolab.report.sections.missing import Part, note_missing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Heading, Paragraph, Section, SectionContent, Tone

_QUERIES = Part("Failures and handshakes of DNS queries", ("queries",), anchor="failures")
_HELLOS = Part("Hellos, and failed connections at the edge", ("connections",), anchor="failures")
_OF_EDGE = (
    "A page load's handshake is judged by the server for the document's request, not believed of the browser. Loads "
    "stay with the condition that asked for them."
)
_OF_CLIENT = (
    "Judged from the client's side, by the browsers' own logs (docs/method/client-side.md); not known where these do "
    "not tell."
)


def _build(reading: Reading) -> SectionContent:
    findings = reading.findings
    marred = list(_marred(reading))
    has_trouble = bool(marred or findings.failures or findings.flags)
    blocks: list[Block] = [
        *marred,
        *_failures(reading),
        *_flags(reading),
        *_handshakes(reading),
        *connection_content(findings).blocks,
        *_missing(reading),
    ]
    tone = Tone.BAD if has_trouble else Tone.GOOD
    return SectionContent(blocks, title=failures_line(findings), tone=tone, is_open=bool(marred))


def _marred(reading: Reading) -> Iterator[Paragraph]:
    """Yield a line for each reason to read nothing without the failures."""
    findings, manifest = reading.findings, reading.findings.manifest
    planned, failures = manifest.trials_planned_count, manifest.instrument_failures_count
    drops = sum(one.dropped_device_count for one in findings.lateness)
    if findings.trials_count < planned:
        yield Paragraph(
            f"The run is {manifest.status}: {findings.trials_count} of {planned} trials are there. Everything below is "
            "from those.",
            Tone.BAD,
        )
    if failures:
        yield Paragraph(
            f"The instrument failed {failures} times; each time the testbed was made anew and the trial repeated.",
            Tone.BAD,
        )
    if drops:
        yield Paragraph(
            f"The emulated path itself lost {drops} packets (must be 0): times of the trials concerned are not valid.",
            Tone.BAD,
        )


def _failures(reading: Reading) -> list[Block]:
    if not reading.findings.failures:
        return [Paragraph("Failures: none.", Tone.GOOD)]
    text = (
        "Failures are data: a page load the network failed counts as at least its time limit, never as absent. A "
        "look-up that failed and was asked again, or a warm-up load, fails no page load by itself."
    )
    return [Paragraph(text, Tone.BAD), fit_table(reading, failure_table(reading.findings))]


def _flags(reading: Reading) -> list[Block]:
    if not reading.findings.flags:
        return [Paragraph("Flagged trials: none.", Tone.GOOD)]
    text = "Flagged trials; they are kept in all numbers."
    return [Paragraph(text, Tone.BAD), fit_table(reading, flag_table(reading.findings))]


def _handshakes(reading: Reading) -> Iterator[Block]:
    findings = reading.findings
    yield Heading("Handshakes asked for, and what happened")
    if findings.handshakes:
        yield Paragraph(_OF_CLIENT if reading.is_live else _OF_EDGE, Tone.NOTE)
        yield fit_table(reading, handshake_table(findings))
    else:
        yield Paragraph("No handshake was recorded.", Tone.NOTE)
    if findings.hellos:
        yield Heading("Hellos")
        text = (
            "All connections of all loads, as the server saw them; TCP packets are calculated (docs/method/hellos.md). "
            "Of bytes and packets the least and the most."
        )
        yield Paragraph(text, Tone.NOTE)
        yield fit_table(reading, hello_table(findings.hellos))


def _missing(reading: Reading) -> list[Paragraph]:
    hellos = () if reading.is_live else (_HELLOS,)
    sharing = (CONNECTIONS,) if compares_sharing(reading.findings) else ()
    return note_missing(reading, _QUERIES, *hellos, *sharing)


SECTION = Section(id="failures", title="Failures and flags", link="Failures", build=_build)
