"""Marionette, Firefox's own remote protocol, over a connected socket: calls, answers, deadlines.

For: frames `LENGTH:JSON`; a command `[0, id, name, parameters]` is answered by `[1, id, error, result]`, in any order.
Not for: how the socket came to be (`connector`), or what is asked of the browser.
"""

import asyncio
from contextlib import suppress
from typing import Any

import msgspec

Json = dict[str, Any]

_READ_BYTES = 1 << 18
_LENGTH_DIGITS_LIMIT = 12
COMMAND, ANSWER = 0, 1


class MarionetteError(Exception):
    """The browser answered a call with an error."""

    def __init__(self, command: str, message: str) -> None:
        super().__init__(f"{command}: {message}")
        self.command = command


class MarionetteTimeoutError(Exception):
    """A call was not answered before its deadline."""

    def __init__(self, command: str, timeout_s: float) -> None:
        super().__init__(f"{command}: no answer within {timeout_s:g} s")
        self.command = command


class MarionetteClosedError(Exception):
    """The browser's end of the connection is gone."""


AnyMarionetteError = MarionetteError | MarionetteTimeoutError | MarionetteClosedError
MARIONETTE_ERRORS = (MarionetteError, MarionetteTimeoutError, MarionetteClosedError)


class FrameDecoder:
    """Cuts a byte stream into messages of announced length."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add bytes, return the messages they complete; `ValueError` when they are no frames."""
        self._pending += chunk
        messages = []
        while (message := self._cut()) is not None:
            messages.append(message)
        return messages

    def _cut(self) -> bytes | None:
        digits, colon, _ = bytes(self._pending[: _LENGTH_DIGITS_LIMIT + 1]).partition(b":")
        if not digits.isdigit() and (digits or colon):
            raise ValueError(f"no length at the start of a frame: {digits!r}")
        if not colon:
            return None
        begin, end = len(digits) + 1, len(digits) + 1 + int(digits)
        if len(self._pending) < end:
            return None
        message = bytes(self._pending[begin:end])
        del self._pending[:end]
        return message


def encode_command(number: int, name: str, parameters: Json) -> bytes:
    """One command as it goes onto the connection."""
    text = msgspec.json.encode([COMMAND, number, name, parameters])
    return b"%d:%b" % (len(text), text)


class Connection:
    """One browser's connection. Answers are matched by number; several calls may be under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._next_number = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self.closed = asyncio.Event()
        self._pump = asyncio.create_task(self._read_all())

    async def call(self, command: str, parameters: Json | None = None, *, timeout_s: float = 10.0) -> Any:
        """Send a command and wait for its result, at most `timeout_s`."""
        if self.closed.is_set():
            raise MarionetteClosedError(f"{command}: the browser is gone")
        self._next_number += 1
        number = self._next_number
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (command, future)
        try:
            # Not drained: a browser that stopped reading must not block us, and commands are small.
            self._writer.write(encode_command(number, command, parameters or {}))
            return await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            raise MarionetteTimeoutError(command, timeout_s) from None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Stop reading and let go of the connection."""
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
        except (OSError, ValueError):
            pass  # a broken connection and a broken message both mean: this browser is of no more use
        finally:
            self._fail_waiting()

    def _dispatch(self, message: Any) -> None:
        if not isinstance(message, list):
            return  # The greeting.
        kind, number, error, result = message
        command, future = self._waiting.get(number, ("", None))
        if kind != ANSWER or future is None or future.done():
            return
        if error is not None:
            future.set_exception(MarionetteError(command, str(error.get("message"))))
        else:
            future.set_result(result.get("value", result) if isinstance(result, dict) else result)

    def _fail_waiting(self) -> None:
        self.closed.set()
        for command, future in self._waiting.values():
            if not future.done():
                future.set_exception(MarionetteClosedError(f"{command}: the browser is gone"))
