"""What a part of the benchmark is asked and what it hands back.

For: shapes and verdicts. Not for: measuring or printing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benches.common.progress import Progress


@dataclass(frozen=True)
class Bench:
    """How the parts are measured."""

    quick: bool
    scratch: Path
    """A folder of this run, removed at its end."""
    progress: Progress
    exchanges_count: int
    """Cold exchanges of each cell."""
    idle_exchanges_count: int
    """As many without processors kept awake."""
    profiles: Sequence[str]
    transports: Sequence[str]
    handshakes: Sequence[str]
    """Of the cold exchanges."""
    against: str | None = None
    """Another resolab-core to measure the cold exchanges of, in turn."""


@dataclass
class Part:
    """A table with its remarks, and the same for machines."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    missed_count: int = 0
    data: list[Any] = field(default_factory=list)

    def add(self, cells: list[str], data: Any) -> None:
        """Add a row."""
        self.rows.append(cells)
        self.data.append(data)
        self.missed_count += "MISSED" in cells

    def as_json(self) -> dict[str, Any]:
        """Return it for machines."""
        whole = asdict(self)
        del whole["columns"], whole["rows"]
        return whole


@dataclass(frozen=True)
class Spread:
    """Median of all values, with the smallest and largest median of the rounds they came in."""

    count: int
    median: float
    lowest: float
    highest: float
    p90: float
    p95: float
    p99: float

    @classmethod
    def of_rounds(cls, rounds: Sequence[Sequence[float]]) -> "Spread":
        """Summarise values that were measured round by round."""
        medians = [float(np.median(values)) for values in rounds if len(values)]
        if not medians:
            raise ValueError("no values")
        everything = np.concatenate([np.asarray(values, float) for values in rounds if len(values)])
        quantiles = [float(value) for value in np.quantile(everything, [0.5, 0.9, 0.95, 0.99])]
        return cls(len(everything), quantiles[0], min(medians), max(medians), *quantiles[1:])

    def text(self, digits: int) -> str:
        """Write it as `median [lowest..highest]`, without these when they are one."""
        if self.lowest == self.highest:
            return f"{self.median:.{digits}f}"
        return f"{self.median:.{digits}f} [{self.lowest:.{digits}f}..{self.highest:.{digits}f}]"


def verdict(value: float | None, must: float | None, aim: float | None = None) -> str:
    """Judge a value that must be at most its limit; nothing is said where no limit is."""
    if must is None:
        return ""
    if value is None or value > must:
        return "MISSED"
    return "aim met" if aim is not None and value <= aim else "met"
