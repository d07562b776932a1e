"""What Chromium's netlogs tell of handshakes and look-ups, made up event by event."""

import base64
from pathlib import Path
from typing import Any

import pytest
from made_netlog import BEGIN, END, OFFSET_MS, MadeNetlog

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import HandshakeMode
from resolab.browser.browser_log import BrowserConnection, BrowserLog
from resolab.browser.chromium.netlog import NetlogFollower, read_netlog
from resolab.browser.tls_messages import server_took_ticket

SUPPORTED_VERSIONS, KEY_SHARE, PRE_SHARED_KEY = 43, 51, 41
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""RFC 8446 section 4.1.3."""


def server_hello(*extensions: int, random: bytes = b"r" * 32, session_id: bytes = b"") -> bytes:
    """RFC 8446 section 4.1.3."""
    told = b"".join(number.to_bytes(2) + b"\0\2ab" for number in extensions)
    body = b"\x03\x03" + random + bytes([len(session_id)]) + session_id + b"\x13\x01\0" + len(told).to_bytes(2) + told
    return b"\x02" + len(body).to_bytes(3) + body


FULL = server_hello(SUPPORTED_VERSIONS, KEY_SHARE)
RESUMED = server_hello(PRE_SHARED_KEY, SUPPORTED_VERSIONS, KEY_SHARE)
AGAIN = server_hello(SUPPORTED_VERSIONS, KEY_SHARE, random=RETRY)


@pytest.mark.parametrize(
    ("stream", "took"),
    [
        (FULL, False),
        (RESUMED, True),
        (server_hello(PRE_SHARED_KEY, session_id=b"s" * 32), True),
        (RESUMED + b"\x08\0\0\1x", True),
        (AGAIN + FULL, False),
        (AGAIN + RESUMED, True),
        (AGAIN, None),
        (b"", None),
        (RESUMED[:-1], None),
        (b"\x0b" + FULL[1:], None),
        (FULL[:-1], None),
        (b"\x02\0\0\x03abc", None),
    ],
)
def test_a_servers_hello_says_whether_it_took_the_ticket(stream: bytes, took: bool | None) -> None:
    assert server_took_ticket(stream) is took


def session(made: MadeNetlog, hello: bytes | None = FULL, *, state: str | None = "NotAttempted", cut: int = 40) -> int:
    """A QUIC session up to its handshake's end; its hello comes in two parts, the second one first."""
    source = made.new()
    where = ("QUIC_SESSION", source)
    made.add(100, where, "QUIC_SESSION", BEGIN, host="a.example", port=443)
    for offset, part in ((cut, hello[cut:]), (0, hello[:cut])) if hello else ():
        content = base64.b64encode(part).decode()
        frame = {"bytes": content, "offset": offset, "data_length": len(part)}
        made.add(118, where, "QUIC_SESSION_CRYPTO_FRAME_RECEIVED", encryption_level="ENCRYPTION_INITIAL", **frame)
    other = base64.b64encode(RESUMED).decode()
    made.add(119, where, "QUIC_SESSION_CRYPTO_FRAME_RECEIVED", encryption_level="ENCRYPTION_HANDSHAKE", bytes=other, offset=0)  # fmt: skip
    made.add(120, where, "QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE")
    if state is not None:
        made.add(120, where, "QUIC_SESSION_ZERO_RTT_STATE", state=state)
    return source


def request(made: MadeNetlog, source: int, stream: int, level: str, *, at: int = 110, packet: int = 7) -> None:
    where = ("QUIC_SESSION", source)
    heads = [":method: GET", ":authority: a.example", ":scheme: https", f":path: /{stream}"]
    name = "QUIC_CHROMIUM_CLIENT_STREAM_SEND_REQUEST_HEADERS"
    made.add(at, where, name, headers=heads, quic_stream_id=stream)
    made.add(at, where, "QUIC_SESSION_STREAM_FRAME_SENT", stream_id=stream, offset=0)
    made.add(at, where, "QUIC_SESSION_PACKET_SENT", encryption_level="ENCRYPTION_INITIAL", packet_number=packet - 1)
    made.add(at, where, "QUIC_SESSION_PACKET_SENT", encryption_level=f"ENCRYPTION_{level}", packet_number=packet)


def read(made: MadeNetlog, folder: Path, **how: Any) -> BrowserLog:
    (folder / "net.json").write_text(made.text(**how))
    return read_netlog(folder / "net.json")


def modes(one: BrowserConnection) -> list[HandshakeMode | None]:
    return [one.judge_handshake(request) for request in one.requests]


@pytest.mark.parametrize(("hello", "mode"), [(FULL, "full"), (RESUMED, "resumed"), (None, None), (FULL[:30], None)])
def test_a_quic_handshake_without_early_data_is_told_by_the_servers_hello(
    tmp_path: Path, hello: bytes | None, mode: str | None
) -> None:
    made = MadeNetlog()
    request(made, session(made, hello), 0, "FORWARD_SECURE", at=121)
    (one,) = read(made, tmp_path).connections
    assert modes(one) == [mode]


def test_only_the_request_that_went_in_early_data_is_zero_rtt(tmp_path: Path) -> None:
    made = MadeNetlog()
    source = session(made, RESUMED, state="AttemptedAndSucceeded")
    request(made, source, 0, "ZERO_RTT")
    request(made, source, 4, "FORWARD_SECURE", at=125, packet=9)
    (one,) = read(made, tmp_path).connections
    assert (one.early_data, one.resumed) == (True, True)
    assert modes(one) == [HandshakeMode.ZERO_RTT, HandshakeMode.RESUMED]


def test_early_data_the_server_did_not_take_is_none(tmp_path: Path) -> None:
    made = MadeNetlog()
    request(made, session(made, FULL, state="AttemptedAndRejected"), 0, "ZERO_RTT")
    (one,) = read(made, tmp_path).connections
    assert (one.early_data, modes(one)) == (False, [HandshakeMode.FULL])


def test_an_early_request_whose_packet_was_lost_is_not_judged(tmp_path: Path) -> None:
    made = MadeNetlog()
    source = session(made, RESUMED, state="AttemptedAndSucceeded")
    request(made, source, 0, "ZERO_RTT")
    made.add(140, ("QUIC_SESSION", source), "QUIC_SESSION_PACKET_LOST", packet_number=7)
    (one,) = read(made, tmp_path).connections
    assert modes(one) == [None]


def test_a_log_that_says_nothing_of_early_data_leaves_it_open(tmp_path: Path) -> None:
    made = MadeNetlog()
    request(made, session(made, RESUMED, state=None), 0, "ZERO_RTT")
    (one,) = read(made, tmp_path).connections
    assert (one.early_data, modes(one)) == (None, [None])


def doh(made: MadeNetlog, name: str, kind: int, at: int, **end: Any) -> tuple[int, int]:
    """A look-up with its DoH request's source."""
    transaction, query = made.new(), made.new()
    made.add(at, ("DNS_TRANSACTION", transaction), "DNS_TRANSACTION", BEGIN, hostname=name, query_type=kind)
    made.add(at, ("DNS_TRANSACTION", transaction), "DNS_TRANSACTION_HTTPS_ATTEMPT", of=query)
    made.add(at, ("DNS_OVER_HTTPS", query), "URL_REQUEST_START_JOB", BEGIN, url="https://dns.example/dns-query")
    if end:
        answer = {"rcode": end["rcode"]} if "rcode" in end else {}
        made.add(at + 20, ("DNS_TRANSACTION", transaction), "DNS_TRANSACTION_RESPONSE", of=query, **answer)
        error = {"net_error": end["error"]} if "error" in end else {}
        made.add(at + 20, ("DNS_TRANSACTION", transaction), "DNS_TRANSACTION", END, **error)
    return transaction, query


def test_a_look_up_names_its_answer_and_the_connection_it_went_over(tmp_path: Path) -> None:
    made = MadeNetlog()
    socket = made.socket(10, "192.0.2.53", host="dns.example", resumed=True)
    over_h2 = made.h2(40, socket, "dns.example")
    for kind, asked, rcode in ((65, "A.example.", 0), (1, "a.example", 3)):
        _, query = doh(made, asked, kind, 41, rcode=rcode)
        job = made.new()
        made.add(41, ("DNS_OVER_HTTPS", query), "HTTP_STREAM_REQUEST_BOUND_TO_JOB", of=job)
        heads = [":authority: dns.example", ":path: /dns-query"]
        made.add(42, ("HTTP2_SESSION", over_h2), "HTTP2_SESSION_SEND_HEADERS", of=job, headers=heads)
    log = read(made, tmp_path)
    assert [(one.name, one.qtype, one.rcode) for one in log.look_ups] == [
        ("a.example", "HTTPS", "NOERROR"), ("a.example", "A", "NXDOMAIN"),
    ]  # fmt: skip
    for one in log.look_ups:
        assert one.connection is log.connections[0]
        assert one.request is not None
        assert one.connection.judge_handshake(one.request) is HandshakeMode.RESUMED


def test_a_look_up_over_quic_is_the_request_that_was_sent_for_it(tmp_path: Path) -> None:
    made = MadeNetlog()
    source = session(made, RESUMED, state="AttemptedAndSucceeded")
    for stream, level in ((0, "ZERO_RTT"), (4, "FORWARD_SECURE")):
        _, query = doh(made, "a.example", 1, 109, rcode=0)
        made.add(110, ("DNS_OVER_HTTPS", query), "HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS")
        request(made, source, stream, level, packet=7 + stream)
    told = [(one.connection, one.request) for one in read(made, tmp_path).look_ups]
    assert [connection and sent and connection.judge_handshake(sent) for connection, sent in told] == [
        HandshakeMode.ZERO_RTT, HandshakeMode.RESUMED,
    ]  # fmt: skip


def test_a_look_up_that_got_no_answer_has_an_error_or_no_end(tmp_path: Path) -> None:
    made = MadeNetlog()
    doh(made, "late.example", 1, 10, error=-803)
    doh(made, "open.example", 28, 11)
    job = made.new()
    made.add(12, ("HOST_RESOLVER_IMPL_JOB", job), "DNS_TRANSACTION", of=1)
    late, still_open = read(made, tmp_path).look_ups
    assert (late.rcode, late.error, late.ended_ms) == (None, "-803", 30), "without names of errors, their numbers"
    assert (still_open.qtype, still_open.rcode, still_open.error, still_open.ended_ms) == ("AAAA", None, None, None)


def test_a_log_is_followed_load_by_load_and_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "net.json"
    followed = NetlogFollower(file)
    with pytest.raises(ConfigurationError, match="failed to read netlog"):
        followed.read()
    made = MadeNetlog()
    made.h2(130, made.socket(100), "a.example", "a.example")
    made.h2(1130, made.socket(1100, host="b.example"), "b.example", "b.example")
    text = made.text(end=",\n")
    first = text.index('"time":"1100"')
    file.write_text(text[:first])
    assert [one.host for one in followed.read().connections] == ["a.example"]
    monkeypatch.setattr("time.monotonic", lambda: 1.1)
    followed.mark()
    assert not followed.read().connections
    file.write_text(text)
    log = followed.read()
    assert [(one.host, len(one.requests)) for one in log.connections] == [("b.example", 1)]
    assert log.unix_offset_ms == OFFSET_MS
    assert log.is_cut_off


def test_what_is_followed_and_no_netlog_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text('{"constants":[],\n"events": [\n')
    with pytest.raises(ConfigurationError, match="its head cannot be read"):
        NetlogFollower(tmp_path / "net.json").read()
