"""Chrome DevTools Protocol over a pair of byte streams: messages, sessions, events.

For: CDP over Chromium's debugging pipe (JSON messages, each ended by a zero byte). With a pipe the driver needs no
socket and can stay outside the browser's network namespace. Not for: answers and deadlines (`remote`), the meaning of
any method, starting the browser, or judging a page load.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from resolab.browser.remote import Json, RemoteConnection

EventHandler = Callable[[str, Json], None]


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
    """Encode one call for the pipe."""
    message: Json = {"id": call_id, "method": method, "params": params or {}}
    if session_id is not None:
        message["sessionId"] = session_id
    return msgspec.json.encode(message) + b"\0"


class CdpConnection(RemoteConnection):
    """The pipe of one browser; the browser ends when the pipe closes.

    Each session's handler gets the session's events.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer, FrameDecoder())
        self._handlers: dict[str | None, EventHandler] = {}

    async def call(
        self,
        method: str,
        params: Json | None = None,
        *,
        session_id: str | None = None,
        timeout_s: float = 10.0,
    ) -> Json:
        """Send a call and wait for the result, at most `timeout_s`."""
        result: Json = await self._ask(
            method, lambda number: encode_call(number, method, params, session_id), timeout_s
        )
        return result

    def listen(self, session_id: str | None, handler: EventHandler | None) -> None:
        """Hand the events of one session (`None`: the browser's own) to `handler`."""
        if handler is None:
            self._handlers.pop(session_id, None)
        else:
            self._handlers[session_id] = handler

    def _dispatch(self, message: Json) -> None:
        if "id" in message:
            self._deliver_answer(message["id"], message.get("error"), message.get("result", {}))
            return
        handler = self._handlers.get(message.get("sessionId"))
        if handler is not None:
            handler(message.get("method", ""), message.get("params", {}))


class Session:
    """One attached target with its CDP session."""

    def __init__(self, connection: CdpConnection, session_id: str) -> None:
        self.connection = connection
        self.session_id = session_id

    async def call(self, method: str, params: Json | None = None, *, timeout_s: float = 10.0) -> Json:
        """Send a call to this target; see `Connection.call`."""
        return await self.connection.call(method, params, session_id=self.session_id, timeout_s=timeout_s)

    def listen(self, handler: EventHandler | None) -> None:
        """Hand this target's events to `handler`."""
        self.connection.listen(self.session_id, handler)


def retrieve_error(work: asyncio.Task[Any]) -> None:
    """Read a task's error, as no caller may await the task any more."""
    if not work.cancelled():
        work.exception()
