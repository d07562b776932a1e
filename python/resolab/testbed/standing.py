"""What stands as long as its block runs: begun whole or not at all, and ended however the block ends.

For: the places campaigns run their trials in. Not for: what stands there.
"""

import contextlib
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Standing(ABC):
    """Whatever `_start` puts on the stack is ended in the opposite order."""

    def __init__(self) -> None:
        self._stack = contextlib.AsyncExitStack()

    @abstractmethod
    async def _start(self) -> None:
        """Start the parts."""

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()
