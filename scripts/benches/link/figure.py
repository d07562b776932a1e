"""One figure of the benchmark: what it must be, what it aims at, what it is.

For: shapes and verdicts. Not for: measuring.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Figure:
    """A row of the table."""

    name: str
    must: str
    aim: str
    measured: str
    verdict: str
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it for machines."""
        return asdict(self)


def verdict(values: list[float], must: list[float], aim: list[float]) -> str:
    """Judge values of which each must be at most its limit."""
    if all(value <= limit for value, limit in zip(values, aim, strict=True)):
        return "aim met" if aim != must else "must met"
    return "must met" if all(value <= limit for value, limit in zip(values, must, strict=True)) else "MISSED"


def verdict_at_least(value: float, must: float, aim: float) -> str:
    """Judge a value that must be at least its limit."""
    return verdict([-value], [-must], [-aim])


def skipped(name: str, why: str) -> Figure:
    """Stand in for what could not be measured here."""
    return Figure(name, "", "", why, "SKIPPED")


def quantiles(values: Any, ratios: tuple[float, ...] = (0.5, 0.99, 1.0)) -> list[float]:
    """Return quantiles as plain numbers."""
    return [float(value) for value in np.quantile(values, ratios)]
