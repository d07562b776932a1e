"""Readable words and numbers, shared by figures and report.

For: labels of levels, numbers with signs, estimates known only within bounds. Not for: units in data.
"""

import math
from collections.abc import Sequence

from resolab.basics.protocols import transport_label
from resolab.plan.factors import find_label
from resolab.stats import Estimate

ABSENT = "n/a"


def mode_label(handshake_mode: str) -> str:
    """Return the spelling of a handshake mode."""
    return find_label("requested_handshake_mode", handshake_mode) or handshake_mode


def level_label(factor: str, level: str) -> str:
    """Return a level's name, understandable without naming its optional factor."""
    return find_label(factor, level) or f"{factor} {level}"


def combination_label(dns_transport: str, http_version: str, handshake_mode: str, further: Sequence[str] = ()) -> str:
    """Return the names of a condition's protocols, e.g. `DoQ + H3 0-RTT`, followed by further levels."""
    protocols = f"{transport_label(dns_transport)} + {http_version.upper()} {mode_label(handshake_mode)}"
    return ", ".join((protocols, *further))


def number_text(number: float | None, digits: int = 1, *, signed: bool = False) -> str:
    """Format a number; infinity and absence have their own texts, and a rounded zero has no sign."""
    if number is None:
        return ABSENT
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    rounded = round(number, digits)
    text = f"{abs(rounded):.{digits}f}"
    if rounded == 0:
        return text
    return f"{'-' if rounded < 0 else '+' if signed else ''}{text}"


def estimate_text(estimate: Estimate, digits: int = 1, *, scale: float = 1, signed: bool = False) -> str:
    """Format an estimate, or its bounds when censoring leaves no single number."""
    low, high = _scale(estimate.low, scale), _scale(estimate.high, scale)
    if low is None or high is None:
        return ABSENT
    if low == high and math.isfinite(low):
        return number_text(low, digits, signed=signed)
    if math.isinf(high) and math.isfinite(low):
        return "≥ " + number_text(low, digits, signed=signed)
    if math.isinf(low) and math.isfinite(high):
        return "≤ " + number_text(high, digits, signed=signed)
    if low == high == math.inf:
        return "never"
    return "not determined"


def interval_text(estimate: Estimate, digits: int = 1, *, scale: float = 1, signed: bool = False) -> str:
    """Format a confidence interval; without an interval, return an empty string."""
    low, high = _scale(estimate.ci_low, scale), _scale(estimate.ci_high, scale)
    if low is None or high is None:
        return ""
    return f"[{number_text(low, digits, signed=signed)}, {number_text(high, digits, signed=signed)}]"


def _scale(number: float | None, scale: float) -> float | None:
    return None if number is None else number * scale
