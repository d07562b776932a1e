"""A visit from its first load to its last: in the drawn order, one at a time, to its end or to the end of its time.

For: the loop, over whatever loads (`live_loader`, or something that does as if). Not for: rules of manners, which
whoever loads keeps to.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from resolab.records import Record
from resolab.visit.fitting import Extent, is_over
from resolab.visit.loaded import Loaded, loaded
from resolab.visit.order import Visit


class Loader(Protocol):
    """What carries out one visit; failed loads are data."""

    async def load(self, visit: Visit, number: int) -> Sequence[Record]:
        """Load once and return all records of the trial; `number` counts visits from 0."""
        ...


async def visit_all(
    visits: Sequence[Visit],
    loader: Loader,
    extent: Extent,
    *,
    may_end_early: bool,
    on_loaded: Callable[[Loaded], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Carry out all visits, handing on each; ends between blocks where the time is over and that is allowed.

    A page of which no load of a block came through, over whatever configuration, is not loaded again: that says nothing
    of resolvers, takes its limit each time, and whoever serves it has trouble enough.
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
        found = loaded(visit, await loader.load(visit, number))
        done += 1
        came_through[visit.url] |= found.failure is None
        on_loaded(found)
