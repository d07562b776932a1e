"""The section of the instrument's own error: lateness and packets lost by the emulated path.

For: emulated networks. Not for: calibrations made apart from the trials (`calibration`).
"""

from resolab.report.parts.tables import lateness_table
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.missing import AS_PUBLISHED, Part, note_missing
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent, Tone
from resolab.store.folder import CALIBRATION

_LATENESS = Part("The instrument's own error", ("path_summaries",), anchor="instrument")


def _build(reading: Reading) -> SectionContent:
    if not reading.findings.lateness:
        missing = [*note_missing(reading, _LATENESS), *_note_missing_calibration(reading)]
        return SectionContent(missing or list_notes(["No window of the path was recorded."]))
    drops = sum(one.dropped_device_count for one in reading.findings.lateness)
    told = Paragraph(f"Packets lost by the instrument: {drops}.", Tone.BAD if drops else Tone.GOOD)
    return SectionContent([told, lateness_table(reading.findings), Paragraph(_note(reading), Tone.NOTE)])


def _note(reading: Reading) -> str:
    return (
        "Lateness: a packet's delivery by the emulated path minus the instant it was due. Every window of every trial, "
        "warm-up loads and DNS exchanges included, each direction by itself. A trial is flagged when the p99 of its "
        f"measured load's window exceeds {reading.plan.limits.lateness_p99_ms} ms."
    )


def _note_missing_calibration(reading: Reading) -> list[Paragraph]:
    """Return a line when the page as published has a calibration and the folder has not."""
    findings, file = reading.findings, reading.folder / AS_PUBLISHED
    if not findings.missing_tables or findings.calibrations or not file.is_file():
        return []
    if 'id="calibration"' not in file.read_text("utf-8"):
        return []
    line = f"The link, calibrated: left out, as this published folder has no {CALIBRATION}."
    return list_notes([f"{line} As published: {AS_PUBLISHED}, section calibration."])


SECTION = Section(
    id="instrument",
    title="The instrument's own error",
    link="Instrument",
    applies=lambda reading: not reading.is_live,
    build=_build,
)
