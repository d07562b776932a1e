"""The results of a visit's load, read from the records of the trial.

For: the numbers shown on the screen, in the JSON and used for verdicts. Not for: comparing the numbers (`comparison`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from resolab.basics.records import (
    ConnectionState,
    PageFailure,
    PageLoadRecord,
    PingRecord,
    QueryRecord,
    Record,
)
from resolab.extras.visit.order import PlannedVisitLoad
from resolab.store.outcomes import SAY_NOTHING


@dataclass(frozen=True, slots=True)
class VisitLoad:
    """The result of a visit, carried out or skipped."""

    visit: PlannedVisitLoad
    plt_ms: float | None
    """The page load time, in ms; `None` when the load failed."""
    limit_ms: float
    """The load's time limit, in ms. A load failed by the network or the page would have taken at least this long."""
    failure: PageFailure | None = None
    failure_detail: str | None = None
    opening_ms: Sequence[float] = ()
    """The query response times of our client, in ms, with a connection to open; empty over DoUDP."""
    look_up_ms: Sequence[float] = ()
    """The query response times of our client, in ms, over an open connection or without a connection."""
    ping_ms: Sequence[float] = ()
    records: Sequence[Record] = field(default=(), compare=False, repr=False)

    @property
    def counts(self) -> bool:
        """Return True when the result says something about the network, if only a duration above the limit."""
        return self.failure not in SAY_NOTHING if self.failure is not None else self.plt_ms is not None


def read_load_result(visit: PlannedVisitLoad, records: Sequence[Record]) -> VisitLoad:
    """Read the records of a trial."""
    load = next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)
    if load is None:
        return VisitLoad(visit, None, 0.0, PageFailure.DRIVER, "no measured load", records=records)
    pings = [one for one in records if isinstance(one, PingRecord)]
    return VisitLoad(
        visit,
        load.plt_ms if load.failure is None else None,
        load.limit_ms or 0.0,
        load.failure,
        load.failure_detail,
        opening_ms=_response_times(records, opening=True),
        look_up_ms=_response_times(records, opening=False),
        ping_ms=[ns / 1e6 for one in pings for ns in one.rtt_ns if ns is not None],
        records=records,
    )


def _response_times(records: Sequence[Record], *, opening: bool) -> list[float]:
    """Return the times of our client's own queries. A stub's queries for the browser lie inside the load."""
    return [
        one.query_response_time_ns / 1e6
        for one in records
        if isinstance(one, QueryRecord)
        and one.query_response_time_ns is not None
        and one.forwarded_for is None
        and (one.connection is ConnectionState.COLD) is opening
    ]
