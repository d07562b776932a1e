"""Marionette, Firefox's own remote protocol, over a connected socket: the messages.

For: frames `LENGTH:JSON`; a command `[0, id, name, parameters]` is answered by `[1, id, error, result]`, in any order.
Not for: answers and deadlines (`remote`), the making of the socket (`connector`), or the meaning of commands.
"""

import asyncio
from typing import Any

import msgspec

from resolab.browser.remote import Json, RemoteConnection

_LENGTH_DIGITS_LIMIT = 12
COMMAND, ANSWER = 0, 1


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
    """Encode one command for the connection."""
    text = msgspec.json.encode([COMMAND, number, name, parameters])
    return b"%d:%b" % (len(text), text)


class MarionetteConnection(RemoteConnection):
    """The Marionette connection to one browser."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer, FrameDecoder())

    async def call(self, command: str, parameters: Json | None = None, *, timeout_s: float = 10.0) -> Any:
        """Send a command and wait for the result, at most `timeout_s`."""
        return await self._ask(command, lambda number: encode_command(number, command, parameters or {}), timeout_s)

    def _dispatch(self, message: Any) -> None:
        if not isinstance(message, list):
            return  # The greeting.
        kind, number, error, result = message
        if kind == ANSWER:
            self._deliver_answer(number, error, result.get("value", result) if isinstance(result, dict) else result)
