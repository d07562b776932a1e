"""Whose turn it is: the trials of a campaign, handed out to one path or several in their seeded order.

For: that no trial of a block begins before the block before it has ended on every path. Not for: running trials.
"""

import asyncio
from collections.abc import Callable

from resolab.campaign.schedule import PlannedTrial


class Turns:
    """Trials still to be begun and those in flight, for as long as one set of testbeds stands.

    It takes from the campaign's own list and puts back into it what must be repeated.
    """

    def __init__(self, left: list[PlannedTrial], is_over: Callable[[], bool]) -> None:
        self._left, self._is_over = left, is_over
        self._in_flight: list[PlannedTrial] = []
        self._ended = False
        self._changed = asyncio.Event()

    async def next(self) -> PlannedTrial | None:
        """Take the next trial, waiting for the end of the block before its own; None when nothing is to be begun."""
        while self._left and not self._ended and not self._is_over():
            if not self._in_flight or self._in_flight[0].block == self._left[0].block:
                self._in_flight.append(self._left.pop(0))
                return self._in_flight[-1]
            self._changed.clear()
            await self._changed.wait()
        return None

    def done(self, trial: PlannedTrial) -> bool:
        """Take note that a trial is finished; whether its block is, too."""
        self._in_flight.remove(trial)
        self._changed.set()
        return not self._in_flight and (not self._left or self._left[0].block != trial.block)

    def give_back(self, trial: PlannedTrial) -> None:
        """Take back a trial that must be repeated, at its place in the order."""
        self._in_flight.remove(trial)
        self._left.append(trial)
        self._left.sort(key=lambda one: (one.block, one.position))
        self._changed.set()

    def end(self) -> None:
        """Hand out nothing more; trials in flight end."""
        self._ended = True
        self._changed.set()
