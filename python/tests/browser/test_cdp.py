"""The pipe's framing, and calls, events and ends of a connection over a pipe of our own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from resolab.browser.chromium.cdp import CdpConnection, FrameDecoder, Session, encode_call
from resolab.browser.remote import BrowserGoneError, CallError, CallTimeoutError


class Writer:
    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.calls += [msgspec.json.decode(part) for part in data.split(b"\0") if part]

    def close(self) -> None:
        self.closed = True


def over_pipe(scene: Callable[[CdpConnection, asyncio.StreamReader, Writer], Awaitable[None]]) -> None:
    async def play() -> None:
        reader, writer = asyncio.StreamReader(), Writer()
        connection = CdpConnection(reader, writer)  # type: ignore[arg-type]
        async with asyncio.timeout(5):
            await scene(connection, reader, writer)
        await connection.close()
        assert writer.closed

    asyncio.run(play())


def say(reader: asyncio.StreamReader, **message: Any) -> None:
    reader.feed_data(msgspec.json.encode(message) + b"\0")


def test_messages_come_out_whole_however_the_stream_is_cut() -> None:
    stream = b'{"a":1}\0{"b":"\xc3\xa9"}\0\0{"c":3}\0'
    for size in range(1, len(stream) + 1):
        decoder = FrameDecoder()
        messages = [m for at in range(0, len(stream), size) for m in decoder.feed(stream[at : at + size])]
        assert messages == [b'{"a":1}', b'{"b":"\xc3\xa9"}', b'{"c":3}']


def test_a_call_ends_with_a_zero_byte_and_names_its_session() -> None:
    assert encode_call(7, "Page.enable", None, "S") == b'{"id":7,"method":"Page.enable","params":{},"sessionId":"S"}\0'
    assert b"sessionId" not in encode_call(7, "Browser.close", {}, None)


def test_answers_find_their_calls_in_any_order() -> None:
    async def scene(connection: CdpConnection, reader: asyncio.StreamReader, writer: Writer) -> None:
        first = asyncio.create_task(connection.call("A"))
        second = asyncio.create_task(Session(connection, "S").call("B", {"x": 1}))
        await asyncio.sleep(0)
        assert [(c["method"], c.get("sessionId")) for c in writer.calls] == [("A", None), ("B", "S")]
        say(reader, id=writer.calls[1]["id"], result={"is": "b"})
        say(reader, id=writer.calls[0]["id"], error={"code": -1, "message": "no"})
        assert await second == {"is": "b"}
        with pytest.raises(CallError, match="A: no"):
            await first

    over_pipe(scene)


def test_a_call_without_answer_ends_at_its_deadline_and_its_late_answer_is_ignored() -> None:
    async def scene(connection: CdpConnection, reader: asyncio.StreamReader, writer: Writer) -> None:
        with pytest.raises(CallTimeoutError, match=r"A: no answer within 0\.01 s"):
            await connection.call("A", timeout_s=0.01)
        say(reader, id=writer.calls[0]["id"], result={})
        waiting = asyncio.create_task(connection.call("B"))
        await asyncio.sleep(0)
        say(reader, id=writer.calls[1]["id"], result={"ok": True})
        assert await waiting == {"ok": True}

    over_pipe(scene)


def test_events_go_to_their_session_only() -> None:
    async def scene(connection: CdpConnection, reader: asyncio.StreamReader, _writer: Writer) -> None:
        seen: list[tuple[str, str]] = []
        Session(connection, "S").listen(lambda event, _params: seen.append(("S", event)))
        connection.listen(None, lambda event, _params: seen.append(("browser", event)))
        say(reader, method="E1", params={}, sessionId="S")
        say(reader, method="E2", params={}, sessionId="T")
        say(reader, method="E3", params={})
        await asyncio.sleep(0.01)
        assert seen == [("S", "E1"), ("browser", "E3")]

    over_pipe(scene)


@pytest.mark.parametrize("end", [b"", b"not json\0"])
def test_when_the_browser_goes_every_waiting_call_ends(end: bytes) -> None:
    async def scene(connection: CdpConnection, reader: asyncio.StreamReader, _writer: Writer) -> None:
        waiting = asyncio.create_task(connection.call("A"))
        await asyncio.sleep(0)
        reader.feed_data(end) if end else reader.feed_eof()
        with pytest.raises(BrowserGoneError):
            await waiting
        assert connection.closed.is_set()
        with pytest.raises(BrowserGoneError):
            await connection.call("B")

    over_pipe(scene)


def test_half_a_surrogate_pair_on_a_pages_console_breaks_no_connection() -> None:
    async def scene(connection: CdpConnection, reader: asyncio.StreamReader, _writer: Writer) -> None:
        call = asyncio.create_task(connection.call("A"))
        await asyncio.sleep(0)
        reader.feed_data(b'{"id":1,"result":{"said":"a\\ud83d","well":"\\ud83d\\ude00"}}\0')
        assert await call == {"said": "a?", "well": "\U0001f600"}
        reader.feed_data(b"no JSON\0")
        await connection.closed.wait()

    over_pipe(scene)
