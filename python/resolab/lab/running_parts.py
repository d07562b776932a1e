"""A base for parts running during a block: started completely or not at all, and ended at any end of the block.

For: the runners of a campaign's trials. Not for: the parts themselves.
"""

import contextlib
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class RunningParts(ABC):
    """A set of parts pushed on a stack by `_start` and ended in the opposite order."""

    def __init__(self) -> None:
        self._stack = contextlib.AsyncExitStack()

    @abstractmethod
    async def _start(self) -> None:
        """Start the parts, pushing their ends on the stack."""

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
