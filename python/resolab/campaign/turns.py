"""The order of a campaign's trials on one path or several, handed out in the seeded order.

For: beginning a block's trials only after the previous block has ended on every path. Not for: running trials.
"""

import asyncio
from collections.abc import Callable

from resolab.campaign.schedule import PlannedTrial


class TrialDispatcher:
    """The trials to begin and in flight, during the lifetime of a set of testbeds.

    Trials are taken from the campaign's own list, and trials to repeat are put back.
    """

    def __init__(self, left: list[PlannedTrial], is_over: Callable[[], bool]) -> None:
        self._left, self._is_over = left, is_over
        self._in_flight: list[PlannedTrial] = []
        self._ended = False
        self._changed = asyncio.Event()

    async def next(self) -> PlannedTrial | None:
        """Return the next trial, after waiting for the end of the previous block; `None` when no trial is to begin."""
        while self._left and not self._ended and not self._is_over():
            if not self._in_flight or self._in_flight[0].block == self._left[0].block:
                self._in_flight.append(self._left.pop(0))
                return self._in_flight[-1]
            self._changed.clear()
            await self._changed.wait()
        return None

    def done(self, trial: PlannedTrial) -> bool:
        """Note a finished trial; return True when the block is finished, too."""
        self._in_flight.remove(trial)
        self._changed.set()
        return not self._in_flight and (not self._left or self._left[0].block != trial.block)

    def give_back(self, trial: PlannedTrial) -> None:
        """Take back a trial to repeat, at its position in the order."""
        self._in_flight.remove(trial)
        self._left.append(trial)
        self._left.sort(key=lambda one: (one.block, one.position))
        self._changed.set()

    def end(self) -> None:
        """Hand out no more trials; trials in flight end."""
        self._ended = True
        self._changed.set()
