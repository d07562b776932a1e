"""The link between an agent and the server: passes bytes, until cut.

For: a cut as seen by agents. No bytes come through and no error is reported; new connections are not refused either.
Not for: delay, loss or rates.
"""

import asyncio
import contextlib


class Relay:
    """The link of an agent."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._up = asyncio.Event()
        self._up.set()
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The local port of the link."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def begin(self) -> None:
        """Listen on a port of loopback."""
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)

    def cut(self) -> None:
        """Stop all bytes, without an error to either side."""
        self._up.clear()

    def mend(self) -> None:
        """Pass bytes again; connections from before the cut end, as after any address translation."""
        for one in self._running:
            one.cancel()
        self._up.set()

    async def end(self) -> None:
        """Close the listener and all connections."""
        if self._server is not None:
            self._server.close()
        for one in list(self._running):
            one.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._up.wait()
                there = await asyncio.open_connection("127.0.0.1", self._server_port)
                await self._both_ways((reader, writer), there)
        finally:
            self._running.discard(task)
            writer.transport.abort()

    async def _both_ways(
        self,
        here: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        there: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        ways = [asyncio.ensure_future(self._one_way(*way)) for way in ((here[0], there[1]), (there[0], here[1]))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            there[1].transport.abort()

    async def _one_way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while content := await reader.read(65_536):
            await self._up.wait()
            writer.write(content)
            await writer.drain()
