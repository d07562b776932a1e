"""The common parts of all browsers' remote protocols: numbered calls, answers, deadlines, and three kinds of failure.

For: one connection's calls under way, and the errors known to every driver. Not for: a message's form on the wire or
its meaning (`chromium.cdp`, `firefox.marionette`).
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec

Json = dict[str, Any]

ALIVE_TIMEOUT_S = 3.0
"""The time limit for a browser's answer to an empty call."""
_READ_BYTES = 1 << 18


class CallError(Exception):
    """The browser answered a call with an error."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")


class CallTimeoutError(Exception):
    """A call without an answer before its deadline."""

    def __init__(self, name: str, timeout_s: float) -> None:
        super().__init__(f"{name}: no answer within {timeout_s:g} s")


class BrowserGoneError(Exception):
    """The browser's end of the connection is gone."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the browser is gone")


RemoteError = CallError | CallTimeoutError | BrowserGoneError
REMOTE_ERRORS = (CallError, CallTimeoutError, BrowserGoneError)


def read_json(message: bytes | str) -> Any:
    """Decode JSON with text from a page; raise `ValueError` for invalid JSON.

    Half a surrogate pair, allowed in scripts but in no text, becomes a question mark.
    """
    try:
        return msgspec.json.decode(message)
    except msgspec.DecodeError:
        said = json.dumps(json.loads(message), ensure_ascii=False)
        return msgspec.json.decode(said.encode("utf-8", "replace"))


class Decoder(Protocol):
    """Cuts a byte stream into messages."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add bytes, return the messages they complete; `ValueError` when they are no messages."""


class RemoteConnection(ABC):
    """One browser's connection. Answers are matched by number; several calls may be under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, decoder: Decoder) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder = decoder
        self._last_number = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self.closed = asyncio.Event()
        self._pump = asyncio.create_task(self._read_all())

    async def close(self) -> None:
        """Stop reading and let go of the connection."""
        self._pump.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await self._pump
        finally:
            self._fail_waiting()
            self._writer.close()

    @abstractmethod
    def _dispatch(self, message: Any) -> None:
        """Take one message; answers go to `_answered`."""

    async def _ask(self, name: str, encode: Callable[[int], bytes], timeout_s: float) -> Any:
        """Send the message made by `encode` from the call's number, and wait for its answer."""
        if self.closed.is_set():
            raise BrowserGoneError(name)
        self._last_number += 1
        number = self._last_number
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (name, future)
        try:
            # Not drained: a browser that stopped reading must not block us, and calls are small.
            self._writer.write(encode(number))
            return await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            raise CallTimeoutError(name, timeout_s) from None
        finally:
            self._waiting.pop(number, None)

    def _deliver_answer(self, number: int, error: Json | None, result: Any) -> None:
        """Hand an answer to the call with its number; answers to abandoned calls are ignored."""
        name, future = self._waiting.get(number, ("", None))
        if future is None or future.done():
            return
        if error is not None:
            future.set_exception(CallError(name, str(error.get("message"))))
        else:
            future.set_result(result)

    async def _read_all(self) -> None:
        try:
            while chunk := await self._reader.read(_READ_BYTES):
                for message in self._decoder.feed(chunk):
                    self._dispatch(read_json(message))
        except (OSError, ValueError):
            pass  # A broken connection and a broken message both mean: this browser is of no more use.
        finally:
            self._fail_waiting()

    def _fail_waiting(self) -> None:
        self.closed.set()
        for name, future in self._waiting.values():
            if not future.done():
                future.set_exception(BrowserGoneError(name))
