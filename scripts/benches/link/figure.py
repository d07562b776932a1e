"""A figure of the benchmark: its limit, its aim, its value.

For: shapes and verdicts. Not for: measuring.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LinkFigure:
    """A row of the table."""

    name: str
    must: str
    aim: str
    measured: str
    verdict: str
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the figure for machines."""
        return asdict(self)


def verdict(values: list[float], must: list[float], aim: list[float]) -> str:
    """Judge values against their upper limits."""
    if all(value <= limit for value, limit in zip(values, aim, strict=True)):
        return "aim met" if aim != must else "must met"
    return "must met" if all(value <= limit for value, limit in zip(values, must, strict=True)) else "MISSED"


def verdict_at_least(value: float, must: float, aim: float) -> str:
    """Judge a value against its lower limit."""
    return verdict([-value], [-must], [-aim])


def make_placeholder(name: str, why: str) -> LinkFigure:
    """Return a placeholder for a figure impossible to measure here."""
    return LinkFigure(name, "", "", why, "SKIPPED")


def quantiles(values: Any, ratios: tuple[float, ...] = (0.5, 0.99, 1.0)) -> list[float]:
    """Return quantiles as plain numbers."""
    return [float(value) for value in np.quantile(values, ratios)]
