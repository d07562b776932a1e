"""The loop of a visit: loads in the drawn order, one at a time, until all are done or the time is over.

For: the loop, over any loader (`live_loader`, or a substitute). Not for: the rules of manners, kept by the loader.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from resolab.basics.records import Record
from resolab.extras.visit.load_budget import VisitExtent, is_over
from resolab.extras.visit.load_result import VisitLoad, read_load_result
from resolab.extras.visit.order import PlannedVisitLoad


class VisitLoader(Protocol):
    """A loader for single visits; failed loads are data."""

    async def load(self, visit: PlannedVisitLoad, number: int) -> Sequence[Record]:
        """Load once and return all records of the trial; `number` counts visits from 0."""
        ...


async def visit_all(
    visits: Sequence[PlannedVisitLoad],
    loader: VisitLoader,
    extent: VisitExtent,
    *,
    may_end_early: bool,
    on_loaded: Callable[[VisitLoad], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Carry out all visits, handing on each result; end between blocks when the time is over and `may_end_early`.

    A page without any successful load in a block, over any configuration, is not loaded again. The page's failures say
    nothing about resolvers, take the full limit each time, and the page's server has trouble enough.
    """
    begun_s, done = clock(), 0
    came_through: dict[str, bool] = {}
    for number, visit in enumerate(visits):
        if number % extent.configurations_count == 0:
            if may_end_early and is_over(clock() - begun_s, done, extent):
                return
            is_lost = not came_through.get(visit.url, True)
            came_through[visit.url] = False
        if is_lost:
            continue
        found = read_load_result(visit, await loader.load(visit, number))
        done += 1
        came_through[visit.url] |= found.failure is None
        on_loaded(found)
