"""The protocol's frames, its connection against a scripted browser, and the connection's way out of a prefix."""

import asyncio
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from resolab.basics.errors import MachineError
from resolab.basics.records import PageFailure
from resolab.browser.firefox import failures
from resolab.browser.firefox.connector import PORT_FILE, connect
from resolab.browser.firefox.marionette import FrameDecoder, MarionetteConnection, encode_command
from resolab.browser.firefox.network_log import document_status, network_requests
from resolab.browser.firefox.page_report import read_account
from resolab.browser.remote import BrowserGoneError, CallError, CallTimeoutError


def test_frames_are_cut_wherever_the_stream_is_torn() -> None:
    stream = b'3:[1]12:"\xc3\xa9 and 5:x"2:{}'
    for size in range(1, len(stream) + 1):
        decoder = FrameDecoder()
        messages = [m for i in range(0, len(stream), size) for m in decoder.feed(stream[i : i + size])]
        assert messages == [b"[1]", b'"\xc3\xa9 and 5:x"', b"{}"]


def test_what_is_no_frame_is_said() -> None:
    with pytest.raises(ValueError, match="no length"):
        FrameDecoder().feed(b"HTTP/1.1 400")
    with pytest.raises(ValueError, match="no length"):
        FrameDecoder().feed(b":{}")


def test_a_command_is_a_frame_of_four() -> None:
    frame = encode_command(7, "A:B", {"x": "é"})
    length, _, text = frame.partition(b":")
    assert int(length) == len(text)
    assert json.loads(text) == [0, 7, "A:B", {"x": "é"}]


Server = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def frame(message: Any) -> bytes:
    text = json.dumps(message).encode()
    return b"%d:%b" % (len(text), text)


async def with_connection(scene: Callable[[MarionetteConnection], Awaitable[None]], *answers: bytes | None) -> None:
    """A browser that greets and gives these answers, one for each piece it reads; `None` ends it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame({"applicationType": "gecko", "marionetteProtocol": 3}))
        for answer in answers:
            await reader.read(1000)
            if answer is None:
                break
            writer.write(answer)
        else:
            await reader.read(1000)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    connection = MarionetteConnection(*await asyncio.open_connection(*server.sockets[0].getsockname()))
    try:
        async with asyncio.timeout(10):
            await scene(connection)
    finally:
        await connection.close()
        server.close()


def test_answers_go_to_their_calls_and_errors_are_raised() -> None:
    async def scene(connection: MarionetteConnection) -> None:
        assert await connection.call("A") == 3
        with pytest.raises(CallError, match="B: no such"):
            await connection.call("B")
        assert await connection.call("C") == {"sessionId": "s"}

    third = frame([1, 3, None, {"sessionId": "s"}])
    error = frame([1, 2, {"error": "x", "message": "no such"}, None])
    asyncio.run(with_connection(scene, frame([1, 1, None, {"value": 3}]), error, third))


def test_a_late_answer_is_a_timeout_and_harms_nobody() -> None:
    async def scene(connection: MarionetteConnection) -> None:
        with pytest.raises(CallTimeoutError, match=r"A: no answer within 0\.1 s"):
            await connection.call("A", timeout_s=0.1)
        assert await connection.call("B") == "second"

    answers = frame([1, 1, None, {"value": "late"}]) + frame([1, 2, None, {"value": "second"}])
    asyncio.run(with_connection(scene, b"", answers))


@pytest.mark.parametrize("end", [None, b"nonsense"])
def test_an_end_or_nonsense_fails_every_call(end: bytes | None) -> None:
    async def scene(connection: MarionetteConnection) -> None:
        for _ in range(2):
            with pytest.raises(BrowserGoneError, match="A: the browser is gone"):
                await connection.call("A")

    asyncio.run(with_connection(scene, end))


def test_the_connection_comes_out_of_the_prefix_and_needs_the_program_no_more(tmp_path: Path) -> None:
    async def play() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            (tmp_path / PORT_FILE).write_text(str(listener.getsockname()[1]))
            _, writer = await connect(["env", "-u", "NOTHING"], tmp_path, timeout_s=20)
            accepted, _ = listener.accept()
            with accepted:
                writer.write(b"from outside")
                assert await asyncio.to_thread(accepted.recv, 100) == b"from outside"
            writer.close()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ([], "no connection to the browser"),
        ([sys.executable, "-c", "import sys; sys.exit('not here')"], "not here"),
        (["/nonexistent/prefix"], "/nonexistent/prefix"),
    ],
)
def test_no_connection_is_said(prefix: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=words):
        asyncio.run(connect(prefix, tmp_path, timeout_s=0.2 if not prefix else 20))


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("NS_ERROR_UNKNOWN_HOST", PageFailure.DNS),
        ("NS_ERROR_CONNECTION_REFUSED", PageFailure.CONNECT),
        ("NS_ERROR_NET_TIMEOUT", PageFailure.CONNECT),
        ("NS_ERROR_NET_RESET", PageFailure.CONNECT),
        ("NS_ERROR_NET_INADEQUATE_SECURITY", PageFailure.TLS),
        ("NS_ERROR_GENERATE_FAILURE(NS_ERROR_MODULE_SECURITY, SSL_ERROR_RX_RECORD_TOO_LONG)", PageFailure.TLS),
        ("NS_ERROR_REDIRECT_LOOP", PageFailure.HTTP_STATUS),
        ("NS_BINDING_ABORTED", PageFailure.OTHER),
        ("NS_ERROR_SOMETHING_NEW", PageFailure.OTHER),
    ],
)
def test_error_name(name: str, failure: PageFailure) -> None:
    assert failures.classify_error_name(name) is failure


ROW = {
    "url": "https://a/", "type": "document", "method": "GET", "status": 200, "protocol": "h3", "address": "10.0.0.1:443",
    "fromCache": False, "transferBytes": 500, "error": None, "openUs": 5_000_000, "dnsStartUs": 5_001_000,
    "dnsEndUs": 5_011_500, "connectStartUs": 5_012_000, "connectEndUs": 5_042_000, "requestUs": 5_042_000,
    "responseUs": 5_072_000, "endUs": 5_073_000, "openedMs": 5_001, "endedMs": 5_075, "tlsVersion": 4, "resumed": True,
    "earlyData": None, "retryAfter": "9",
}  # fmt: skip
SILENT = dict.fromkeys(
    ("dnsStartUs", "dnsEndUs", "connectStartUs", "connectEndUs", "requestUs", "responseUs", "endUs"), 0
)


def test_rows_count_from_the_documents_request() -> None:
    on_its_connection = (
        ROW | SILENT | {"type": "image", "openUs": 5_080_000, "requestUs": 5_081_000, "endUs": 5_090_000}
    )
    pending = ROW | SILENT | {"type": "image", "status": None, "openUs": 5_085_000, "endedMs": None}
    refused = (
        ROW
        | SILENT
        | {"type": "script", "status": None, "openUs": 0, "openedMs": 5_090, "endedMs": 5_091, "error": "E"}
    )
    document, image, silent, foreign = network_requests([ROW, on_its_connection, pending, refused])
    assert document.retry_after == "9"
    assert (document.start_ms, document.dns_start_ms, document.dns_end_ms, document.end_ms) == (0.0, 1.0, 11.5, 73.0)
    assert (document.connect_start_ms, document.connect_end_ms, document.headers_end_ms) == (12.0, 42.0, 72.0)
    assert (document.connection_reused, image.connection_reused, silent.connection_reused) == (False, True, None)
    assert (image.start_ms, image.send_start_ms, image.end_ms, image.dns_start_ms) == (80.0, 81.0, 90.0, None)
    assert (silent.end_ms, foreign.start_ms, foreign.end_ms, foreign.error_text) == (None, 90.0, 91.0, "E")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, ("TLS 1.3", True, False)),
        ({"earlyData": "accepted"}, ("TLS 1.3", True, True)),
        ({"earlyData": "sent"}, ("TLS 1.3", True, None)),
        ({"earlyData": "received 425"}, ("TLS 1.3", True, False)),
        ({"tlsVersion": 3, "resumed": False}, ("TLS 1.2", False, False)),
        ({"tlsVersion": None, "resumed": None}, (None, None, None)),
        ({"fromCache": True}, (None, None, None)),
        ({"status": None}, (None, None, None)),
    ],
)
def test_a_row_tells_its_connections_handshake(
    told: dict[str, Any], expected: tuple[str | None, bool | None, bool | None]
) -> None:
    (request,) = network_requests([ROW | told])
    assert (request.tls_version, request.session_resumed, request.in_early_data) == expected


def test_the_documents_status_is_the_last_of_its_redirections() -> None:
    moved, image = ROW | {"status": 302}, ROW | {"type": "image", "status": 404}
    assert document_status([moved, ROW | {"status": 503}, image]) == 503
    assert document_status([]) is None
    assert network_requests([]) == []


def test_an_account_of_a_page_that_writes_half_a_surrogate_pair_is_read() -> None:
    assert read_account('{"consoleErrors":["\\ud83d!"]}') == {"consoleErrors": ["?!"]}
    assert read_account(None) == {}
