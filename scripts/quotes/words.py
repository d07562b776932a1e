"""The format of numbers in prose.

For: filters of templates. Not for: the numbers.
"""

import math
from collections.abc import Iterable
from statistics import median as middle

from resolab.stats import Estimate

MINUS = "\N{MINUS SIGN}"
FILTERS = (
    "shown",
    "around",
    "number",
    "percent",
    "grouped",
    "estimate",
    "range_of",
    "median",
    "minutes",
    "bounds",
    "word",
)
_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number(value: float, digits: int = 1, *, signed: bool = False) -> str:
    """Print a number with a true minus sign; a rounded zero has no sign."""
    rounded = round(value, digits)
    sign = MINUS if rounded < 0 else "+" if signed and rounded > 0 else ""
    return f"{sign}{abs(rounded):,.{digits}f}"


def percent(ratio: float, digits: int = 1, *, signed: bool = False) -> str:
    """Print a ratio in per cent, without the per cent sign."""
    return number(100 * ratio, digits, signed=signed)


def bounds(row: dict[str, float], name: str, digits: int = 1, *, scale: float = 100, signed: bool = True) -> str:
    """Print the interval of a table's estimate, from columns like `name_ci_low_ratio`."""
    low, high = (row[f"{name}_ci_{end}_ratio"] * scale for end in ("low", "high"))
    return f"[{number(low, digits, signed=signed)}, {number(high, digits, signed=signed)}]"


def estimate(found: Estimate, digits: int = 0, *, signed: bool = True) -> str:
    """Print an estimate with its interval; a bound with the sign of a bound."""
    if found.low is None or found.high is None:
        return "no number"
    if found.value is None:
        start = f"≥ {number(found.low, digits, signed=signed)}"
    else:
        start = number(found.value, digits, signed=signed)
    ends = [_end(end, digits, signed=signed) for end in (found.ci_low, found.ci_high) if end is not None]
    return f"{start} [{', '.join(ends)}]" if ends else f"{start} (no interval)"


def _end(end: float, digits: int, *, signed: bool) -> str:
    if math.isinf(end):
        return "∞" if end > 0 else f"{MINUS}∞"
    return number(end, digits, signed=signed)


def grouped(value: float) -> str:
    """Print a count with commas."""
    return f"{int(value):,}"


def shown(count: dict[str, int]) -> str:
    """Print the number of significant tests, alone and after Holm."""
    return f"{count['n']} of {count['of']} ({count['after_holm']} after Holm)"


def around(found: dict[str, float], digits: int = 0, *, signed: bool = True) -> str:
    """Print a value with its interval."""
    value, low, high = (number(found[name], digits, signed=signed) for name in ("value", "ci_low", "ci_high"))
    return f"{value} [{low}, {high}]"


def range_of(values: Iterable[float], digits: int = 0, *, signed: bool = False) -> str:
    """Print the least and the greatest of some numbers."""
    some = list(values)
    return f"{number(min(some), digits, signed=signed)} to {number(max(some), digits, signed=signed)}"


def median(values: Iterable[float]) -> float:
    """Return the middle of some numbers."""
    return middle(values)


def minutes(seconds: float) -> str:
    """Print a duration in minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s"


def word(count: int) -> str:
    """Spell a small count."""
    return _WORDS[count] if count < len(_WORDS) else str(count)
