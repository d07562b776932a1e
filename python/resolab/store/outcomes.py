"""What is asked of a page load: one row for each outcome, and what a load contributes to it.

For: the one place that knows the outcomes; reports, comparisons, figures and the stopping rule take any of them. A new
one is a row here and, unless records have its instant, the place where a load is read.
Not for: estimates (`stats`).

A load that the network or the server failed (time-out, DNS, connect, TLS, HTTP) never ended: of every outcome it is 'at
least the limit', even of an instant it had reached, so that a transport cannot look better by failing. A load that the
instrument failed says nothing about the network and contributes nothing.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from resolab.records import INSTRUMENT_FAILURES, PageLoadRecord


class Untold(enum.Enum):
    """What a load says that did not fail and yet has no value."""

    AT_LEAST_ITS_LIMIT = enum.auto()
    NOTHING = enum.auto()
    """Not every browser and run tells it: such a load is left out."""


class Contribution(NamedTuple):
    """A value or, without one, the limit that it is at least."""

    value_ms: float | None
    limit_ms: float


class Load(Protocol):
    """A row of a finished trial with its measured load."""

    @property
    def loaded(self) -> bool:
        """Whether there was a measured load."""

    @property
    def failure(self) -> str | None:
        """Why it failed."""

    @property
    def limit_ms(self) -> float | None:
        """Time it was given."""

    @property
    def times_ms(self) -> Mapping[str, float | None]:
        """Its value of each outcome, by name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A time of a page load in milliseconds, which its column says, too."""

    name: str
    column: str
    """Of `page_loads` and of its records."""
    label: str
    """Short, for the heads of columns and axes."""
    phrase: str
    """Within a sentence."""
    meaning: str
    """Within a sentence that says what it is."""
    untold: Untold = Untold.NOTHING

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return self.column.rpartition("_")[2]

    @property
    def is_main(self) -> bool:
        """Whether it is the page load time, whose names of files and seeds say nothing more."""
        return self.name == "plt"

    @property
    def suffix(self) -> str:
        """What tells its files from those of the page load time."""
        return "" if self.is_main else f"_{self.name}"

    @property
    def change_stream(self) -> str:
        """Name of the random numbers that its changes are resampled with."""
        return "change" if self.is_main else f"{self.name}_change"

    def of(self, load: Load) -> float | None:
        """Return a load's own value, whether or not the load failed."""
        return load.times_ms[self.name]

    def contribution(self, load: Load) -> Contribution | None:
        """Return what a row contributes, if anything."""
        return self._counted(self.of(load), load.failure, load.limit_ms) if load.loaded else None

    def contribution_of_record(self, record: PageLoadRecord) -> Contribution | None:
        """Return what a trial's measured load contributes, if anything."""
        return self._counted(getattr(record, self.column), record.failure, record.limit_ms)

    def _counted(self, value_ms: float | None, failure: str | None, limit_ms: float | None) -> Contribution | None:
        if failure in INSTRUMENT_FAILURES:
            return None
        if failure is None and value_ms is None and self.untold is Untold.NOTHING:
            return None
        return Contribution(None if failure else value_ms, limit_ms or 0.0)


PLT = Outcome(
    name="plt",
    column="plt_ms",
    label="PLT",
    phrase="page load time",
    meaning="page load time (PLT, look-up inside the load)",
    untold=Untold.AT_LEAST_ITS_LIMIT,
)
PLT_SUM = Outcome(
    name="plt_sum",
    column="plt_sum_ms",
    label="PLT sum",
    phrase="page load time as a sum",
    meaning="page load time as a sum (PLT sum: a load without look-up plus a look-up apart, the paper's own way)",
)
RESPONSE_START = Outcome(
    name="response_start",
    column="response_start_ms",
    label="responseStart",
    phrase="time to the page's first byte",
    meaning="time to the page's first byte (responseStart)",
    untold=Untold.AT_LEAST_ITS_LIMIT,
)
FCP = Outcome(
    name="fcp",
    column="fcp_ms",
    label="FCP",
    phrase="time to the first contentful paint",
    meaning="time to the first contentful paint (FCP, W3C Paint Timing)",
)
LCP = Outcome(
    name="lcp",
    column="lcp_ms",
    label="LCP",
    phrase="time to the largest contentful paint",
    meaning="time to the largest contentful paint (LCP)",
)
OUTCOMES: Mapping[str, Outcome] = {one.name: one for one in (PLT, PLT_SUM, RESPONSE_START, FCP, LCP)}
"""In the order of reports; the page load time comes first."""


def is_usable(load: Load) -> bool:
    """Whether a trial has a measured load that the instrument did not lose."""
    return load.loaded and load.failure not in INSTRUMENT_FAILURES


def times_as_sql(page_loads: str) -> str:
    """Write a load's values as one SQL expression, over the name that `page_loads` has in a statement."""
    return (
        f"struct_pack({', '.join(f'{one.name} := {page_loads}.{one.column}' for one in OUTCOMES.values())}) AS times_ms"
    )


def contributions(outcome: Outcome, loads: Iterable[Load]) -> tuple[list[float | None], list[float]]:
    """Return the values and limits of loads, as a censored sample takes them; each must contribute."""
    told = [outcome.contribution(load) for load in loads]
    known = [one for one in told if one is not None]
    return [one.value_ms for one in known], [one.limit_ms for one in known]
