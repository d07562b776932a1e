"""The settings and the result of a benchmark's part.

For: shapes and verdicts. Not for: measuring or printing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benches.common.progress import Progress


@dataclass(frozen=True)
class DnsBench:
    """The settings of the parts."""

    quick: bool
    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    exchanges_count: int
    """The number of cold exchanges per cell."""
    idle_exchanges_count: int
    """The number of cold exchanges per cell without processors kept awake."""
    profiles: Sequence[str]
    transports: Sequence[str]
    handshakes: Sequence[str]
    """The handshakes of the cold exchanges."""
    against: str | None = None
    """The path of another resolab-core for cold exchanges in turn."""


@dataclass
class BenchPart:
    """A table with remarks, and its data for machines."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    missed_count: int = 0
    data: list[Any] = field(default_factory=list)

    def add(self, cells: list[str], data: Any) -> None:
        """Add a row of cells with its data."""
        self.rows.append(cells)
        self.data.append(data)
        self.missed_count += "MISSED" in cells

    def as_json(self) -> dict[str, Any]:
        """Return the part for machines."""
        whole = asdict(self)
        del whole["columns"], whole["rows"]
        return whole


@dataclass(frozen=True)
class Spread:
    """The median of all values, with the smallest and largest median of the rounds."""

    count: int
    median: float
    lowest: float
    highest: float
    p90: float
    p95: float
    p99: float

    @classmethod
    def from_rounds(cls, rounds: Sequence[Sequence[float]]) -> "Spread":
        """Summarise values measured round by round."""
        medians = [float(np.median(values)) for values in rounds if len(values)]
        if not medians:
            raise ValueError("no values")
        everything = np.concatenate([np.asarray(values, float) for values in rounds if len(values)])
        quantiles = [float(value) for value in np.quantile(everything, [0.5, 0.9, 0.95, 0.99])]
        return cls(len(everything), quantiles[0], min(medians), max(medians), *quantiles[1:])

    def text(self, digits: int) -> str:
        """Write the spread as `median [lowest..highest]`, without the brackets when both are equal."""
        if self.lowest == self.highest:
            return f"{self.median:.{digits}f}"
        return f"{self.median:.{digits}f} [{self.lowest:.{digits}f}..{self.highest:.{digits}f}]"


def verdict(value: float | None, must: float | None, aim: float | None = None) -> str:
    """Judge a value against its upper limit; return an empty text without a limit."""
    if must is None:
        return ""
    if value is None or value > must:
        return "MISSED"
    return "aim met" if aim is not None and value <= aim else "met"
