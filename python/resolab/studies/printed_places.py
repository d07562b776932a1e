"""The shape of differences between two places as printed in a study.

For: comparisons of places beside printed numbers. Not for: the numbers (each study's module `printed_places`).
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrintedDifference:
    """The extra time of a study's DoH queries and pings from a vantage point compared with another, ms."""

    response_ms: float
    ping_ms: float


@dataclass(frozen=True, slots=True)
class PrintedPlaces:
    """A study's printed numbers by place."""

    source: str
    """The measured queries, and the source, as words of a sentence."""
    find_difference: Callable[[str, str, str], PrintedDifference | None]
    """The difference for a resolver, a place and a reference place; `None` without printed numbers."""
