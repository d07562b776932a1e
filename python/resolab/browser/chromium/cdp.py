"""Chrome DevTools Protocol over a pair of byte streams: calls, sessions, events, deadlines.

For: speaking CDP over Chromium's debugging pipe (JSON messages, each ended by a zero byte), so that
the driver needs no socket and can stay outside the browser's network namespace.
Not for: knowing what any method means, starting the browser, or judging a page load.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

Json = dict[str, Any]
EventHandler = Callable[[str, Json], None]

_READ_BYTES = 1 << 18


class CdpError(Exception):
    """The browser answered a call with an error."""

    def __init__(self, method: str, message: str) -> None:
        super().__init__(f"{method}: {message}")
        self.method = method


class CdpTimeoutError(Exception):
    """A call was not answered before its deadline."""

    def __init__(self, method: str, timeout_s: float) -> None:
        super().__init__(f"{method}: no answer within {timeout_s:g} s")
        self.method = method


class CdpClosedError(Exception):
    """The browser's end of the pipe is gone."""


class FrameDecoder:
    """Cuts a byte stream into zero-terminated messages."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add bytes, return the messages they complete."""
        pieces = chunk.split(b"\0")
        if len(pieces) == 1:
            self._parts.append(chunk)
            return []
        first = b"".join(self._parts) + pieces[0]
        self._parts = [pieces[-1]]
        return [message for message in (first, *pieces[1:-1]) if message]


def encode_call(call_id: int, method: str, params: Json | None, session_id: str | None) -> bytes:
    """One call as it goes onto the pipe."""
    message: Json = {"id": call_id, "method": method, "params": params or {}}
    if session_id is not None:
        message["sessionId"] = session_id
    return msgspec.json.encode(message) + b"\0"


class Connection:
    """One browser's pipe. Answers are matched by id, events go to their session's handler."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._next_id = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Json]]] = {}
        self._handlers: dict[str | None, EventHandler] = {}
        self.closed = asyncio.Event()
        self._pump = asyncio.create_task(self._read_all())

    async def call(
        self,
        method: str,
        params: Json | None = None,
        *,
        session_id: str | None = None,
        timeout_s: float = 10.0,
    ) -> Json:
        """Send a call and wait for its result, at most `timeout_s`."""
        if self.closed.is_set():
            raise CdpClosedError(f"{method}: the browser is gone")
        self._next_id += 1
        call_id = self._next_id
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = (method, future)
        try:
            # Not drained: a browser that stopped reading must not block us, and calls are small.
            self._writer.write(encode_call(call_id, method, params, session_id))
            return await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            raise CdpTimeoutError(method, timeout_s) from None
        finally:
            self._waiting.pop(call_id, None)

    def listen(self, session_id: str | None, handler: EventHandler | None) -> None:
        """Hand the events of one session (`None`: the browser's own) to `handler`."""
        if handler is None:
            self._handlers.pop(session_id, None)
        else:
            self._handlers[session_id] = handler

    async def close(self) -> None:
        """Stop reading and let go of the pipe; the browser then ends itself."""
        self._pump.cancel()
        with suppress(asyncio.CancelledError):
            await self._pump
        self._fail_waiting()
        self._writer.close()

    async def _read_all(self) -> None:
        decoder = FrameDecoder()
        try:
            while chunk := await self._reader.read(_READ_BYTES):
                for message in decoder.feed(chunk):
                    self._dispatch(msgspec.json.decode(message))
        except (OSError, msgspec.DecodeError):
            pass  # a broken pipe and a broken message both mean: this browser is of no more use
        finally:
            self._fail_waiting()

    def _dispatch(self, message: Json) -> None:
        if "id" in message:
            method, future = self._waiting.get(message["id"], ("", None))
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(CdpError(method, str(message["error"].get("message"))))
            else:
                future.set_result(message.get("result", {}))
            return
        handler = self._handlers.get(message.get("sessionId"))
        if handler is not None:
            handler(message.get("method", ""), message.get("params", {}))

    def _fail_waiting(self) -> None:
        self.closed.set()
        for method, future in self._waiting.values():
            if not future.done():
                future.set_exception(CdpClosedError(f"{method}: the browser is gone"))


class Session:
    """One attached target."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self.connection = connection
        self.session_id = session_id

    async def call(self, method: str, params: Json | None = None, *, timeout_s: float = 10.0) -> Json:
        """As `Connection.call`, for this target."""
        return await self.connection.call(method, params, session_id=self.session_id, timeout_s=timeout_s)

    def listen(self, handler: EventHandler | None) -> None:
        """Hand this target's events to `handler`."""
        self.connection.listen(self.session_id, handler)


def seen(work: asyncio.Task[Any]) -> None:
    """Take note of a task's error: nobody may be waiting for it any more."""
    if not work.cancelled():
        work.exception()
