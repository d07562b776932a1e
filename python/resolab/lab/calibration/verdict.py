"""The check of a quantity: requested value against measured value.

For: making checks and reading their verdicts. Not for: measuring the quantities.
"""

from collections.abc import Iterable
from typing import Any

from resolab.basics.records import CalibrationCheck, CalibrationRecord, LinkDirection

UNITS = {
    "delay": "ms",
    "delay_p99_error": "ms",
    "jitter": "ms",
    "reordering": "packets",
    "loss": "ratio",
    "rate": "bps",
    "queue": "bytes",
    "bulk": "bps",
    "lateness_p99": "ms",
    "device_drops": "packets",
}
"""Every quantity with its unit, in display order."""


def judge_value(
    quantity: str, direction: LinkDirection, *, asked: float, got: float, tolerance: float, n: int
) -> CalibrationCheck:
    """Return a check, passed when the difference is at most the tolerance."""
    within = abs(got - asked) <= tolerance
    return _check(quantity, direction, asked=asked, got=got, tolerance=tolerance, within=within, n=n)


def report_value(
    quantity: str, direction: LinkDirection, *, asked: float | None, got: float, n: int
) -> CalibrationCheck:
    """Return a check without a verdict."""
    return _check(quantity, direction, asked=asked, got=got, tolerance=None, within=None, n=n)


def pass_all(records: Iterable[CalibrationRecord]) -> bool:
    """Return True when no check failed."""
    return all(check.within is not False for record in records for check in record.checks)


def _check(quantity: str, direction: LinkDirection, *, n: int, **values: Any) -> CalibrationCheck:
    return CalibrationCheck(
        quantity=quantity, direction=direction, unit=UNITS[quantity], observations_count=n, **values
    )
