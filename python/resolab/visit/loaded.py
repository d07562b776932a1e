"""What one load of a visit showed, read from its trial's records.

For: the numbers the screen, the JSON and the verdicts are made of. Not for: comparing them (`comparison`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from resolab.records import (
    ConnectionState,
    PageFailure,
    PageLoadRecord,
    PingRecord,
    QueryRecord,
    Record,
)
from resolab.store.outcomes import SAY_NOTHING
from resolab.visit.order import Visit


@dataclass(frozen=True, slots=True)
class Loaded:
    """One visit that was carried out, or left."""

    visit: Visit
    plt_ms: float | None
    """Page load time; None where the load failed."""
    limit_ms: float
    """Time it was given: a load the network or the page failed would have taken at least as long."""
    failure: PageFailure | None = None
    failure_detail: str | None = None
    opening_ms: Sequence[float] = ()
    """Query response times of our client with a connection to open; over DoUDP there are none."""
    look_up_ms: Sequence[float] = ()
    """The same over an open connection, or without one."""
    ping_ms: Sequence[float] = ()
    records: Sequence[Record] = field(default=(), compare=False, repr=False)

    @property
    def counts(self) -> bool:
        """Whether it says anything of the network, be it only that it took longer than its limit."""
        return self.failure not in SAY_NOTHING if self.failure is not None else self.plt_ms is not None


def loaded(visit: Visit, records: Sequence[Record]) -> Loaded:
    """Read a trial."""
    load = next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)
    if load is None:
        return Loaded(visit, None, 0.0, PageFailure.DRIVER, "no measured load", records=records)
    pings = [one for one in records if isinstance(one, PingRecord)]
    return Loaded(
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
    """Return the times of our client's own queries; what a stub asked for the browser lies inside the load."""
    return [
        one.query_response_time_ns / 1e6
        for one in records
        if isinstance(one, QueryRecord)
        and one.query_response_time_ns is not None
        and one.forwarded_for is None
        and (one.connection is ConnectionState.COLD) is opening
    ]
