"""The section of the link's calibrations.

For: rounding and words. Not for: judging; the calibration has already judged the values.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from markupsafe import Markup

from resolab.basics.records import CalibrationCheck, CalibrationRecord
from resolab.report.findings.findings import Findings
from resolab.report.parts.tables import Table
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent, Tone

_COLUMNS = {
    "delay": "delay, ms",
    "delay_p99_error": "delay p99, ms",
    "jitter": "jitter, ms",
    "loss": "loss, %",
    "rate": "rate, %",
    "queue": "queue, kB",
    "bulk": "TCP of the bound, %",
    "lateness_p99": "lateness p99, ms",
}
"""Quantities with their own column; the other quantities are shown only after a failed check."""
_SCALES = {"loss": 100.0, "queue": 1e-3}
_OF_ASKED = frozenset(("rate", "bulk"))


def calibration_table(findings: Findings) -> Table:
    """List the newest calibration of each profile with the worst error of each quantity."""
    rows = [_row(record) for record in _newest(findings)]
    columns = ("profile", "when (UTC)", "back end", *_COLUMNS.values(), "outside")
    return Table(columns, rows, frozenset((0, 1, 2, len(columns) - 1)))


def outside_count(findings: Findings) -> int:
    """Count the failed checks of these calibrations."""
    return sum(check.within is False for record in _newest(findings) for check in record.checks)


def _newest(findings: Findings) -> list[CalibrationRecord]:
    newest = {(record.profile.name, record.backend): record for record in findings.calibrations}
    return list(newest.values())


def _row(record: CalibrationRecord) -> tuple[str, ...]:
    when = datetime.fromtimestamp(record.unix_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
    where = [str(record.backend.value), *(["rootless"] if record.rootless else [])]
    failed = [f"{check.quantity} {check.direction.value}" for check in record.checks if check.within is False]
    cells = [_worst(quantity, record.checks) for quantity in _COLUMNS]
    return (record.profile.name, when, ", ".join(where), *cells, ", ".join(failed) or "none")


def _worst(quantity: str, checks: Sequence[CalibrationCheck]) -> str:
    found = [check for check in checks if check.quantity == quantity and check.within is not None]
    errors = [(*_error(check), check.within) for check in found]
    if not errors:
        return "not judged"
    # Failures first; among equals, what uses most of its tolerance.
    error, tolerance, _ = max(errors, key=lambda one: (one[2] is False, abs(one[0]) / max(one[1], 1e-12)))
    return f"{error:+.3g} ({tolerance:.2g})"


def _error(check: CalibrationCheck) -> tuple[float, float]:
    """Return error and tolerance in the column's unit."""
    asked, tolerance = check.asked or 0.0, check.tolerance or 0.0
    scale = 100.0 / asked if check.quantity in _OF_ASKED and asked else _SCALES.get(check.quantity, 1.0)
    return (check.got - asked) * scale, tolerance * scale


_NOTE = Markup(
    "Measured by <code>resolab calibrate</code> with probes of its own on the machine and at the time named, not "
    "during the trials. Each cell: the judged check of that quantity that lies nearest to its tolerance, or beyond it, "
    "as got minus asked (tolerance). The formulas are in docs/method/calibration.md; everything measured is in "
    "calibration.jsonl."
)


def _build(reading: Reading) -> SectionContent:
    outside = outside_count(reading.findings)
    told = Paragraph(f"Quantities outside their tolerance: {outside}.", Tone.BAD if outside else Tone.GOOD)
    table = fit_table(reading, calibration_table(reading.findings))
    return SectionContent([told, table, Paragraph(_NOTE, Tone.NOTE)])


SECTION = Section(
    id="calibration",
    title="The link, calibrated",
    applies=lambda reading: bool(reading.findings.calibrations),
    build=_build,
)
