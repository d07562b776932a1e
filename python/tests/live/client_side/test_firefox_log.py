"""What Firefox's log tells of its DoH: lines as Firefox 153 writes them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import HandshakeMode
from resolab.browser.browser_log import BrowserLog, ConnectionTransport, LookUp
from resolab.browser.firefox.log import FirefoxLogFollower

HOST = "dns.example"
CUT_OFF = "804B0014"


class MadeLog:
    """Lines, 1 ms apart."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, text: str, *, level: str = "D", thread: str = "Socket Thread") -> None:
        at = datetime.fromtimestamp(1_000 + len(self.lines) / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        self.lines.append(f"{at} UTC - [Parent 2: {thread}]: {level}/{text}")

    def look_up(self, name: str, kind: int, pointer: str) -> None:
        """Ask for a name; the channel is `c` and its pointer, the transaction `a` and its."""
        self.add(f"nsHostResolver TRR::SendHTTPRequest resolve {name} type {kind} 12")
        self.add(f"nsHttp HttpBaseChannel::Init [this=c{pointer}]", level="E")
        self.add(f"nsHttp host={HOST} port=-1", level="E")
        self.add(f"nsHttp TRRServiceChannel c{pointer} created nsHttpTransaction a{pointer}10", level="E")
        self.add(f"nsHttp nsHttpTransaction::Init [this=a{pointer} caps=1081113]", level="E")

    def answer(self, name: str, kind: int, rcode: int | None = 0, code: str = "0") -> None:
        self.add(f"nsHostResolver TRR:OnStopRequest d1 {name} {kind} failed=0 code={code}")
        if rcode is not None:
            self.add(f"nsHostResolver TRR Decode {name} RCODE {rcode}")

    def handshake(self, socket: str, *, full: bool) -> None:
        if full:
            self.add(f"pipnss [{socket}] starting AuthCertificateHookInternal")
        self.add(f"pipnss [{socket}] HandshakeCallback: succeeded using TLS version range (0x0303,0x0304)")

    def h2(self, connection: str, pointer: str, *, host: str = HOST, full: bool = True) -> None:
        """Connect and shake hands for a transaction."""
        self.add(f"nsHttp nsHttpConnection::Init this={connection} sockettransport=e1 forWebSocket=0", level="E")
        self.add(f"nsHttp nsHttpConnection::Activate [this={connection} trans=a{pointer} caps=1]", level="E")
        key = f".SA........[tlsflags0x00000000]{host}:443[TRR:1]"
        self.add(f"nsHttp TlsHandshaker::SetupSSL {connection} caps=0x1 {key}", level="E")
        self.handshake("5" + connection, full=full)
        self.told(pointer)

    def told(self, pointer: str) -> None:
        self.add(f"nsHttp nsHttpTransaction::OnTransportStatus [this=a{pointer} status=4b000d progress=0]", level="E")

    def further(self, connection: str, pointer: str) -> None:
        self.add(f"nsHttp nsHttpConnection::Activate [this={connection} trans=a{pointer} caps=1]", level="E")

    def head(self, pointer: str, early: str) -> None:
        """The head of a transaction's answer."""
        self.add(f"nsHttp nsHttpTransaction::ProcessData [this=a{pointer} count=240]", level="E")
        if early:
            self.add(f"nsHttp   X-Firefox-Early-Data: {early}", level="E")
        self.add("nsHttp     OriginalHeaders", level="E")

    def h3(self, session: str, pointer: str, *, full: bool) -> None:
        self.add(f"nsHttp Http3Session::Init {session}", level="I")
        self.add(f"nsHttp Http3Session::Init origin={HOST}, alpn=h3, selfAddr=0.0.0.0", level="I")
        self.add(f"nsHttp Http3Session::AddStream {session} atrans=a{pointer}.", level="I")
        if full:
            self.add(f"pipnss [{session}] starting AuthCertificateHookInternal")

    def read(self, folder: Path) -> BrowserLog:
        (folder / "log.moz_log").write_text("\n".join(self.lines) + "\n")
        return FirefoxLogFollower(folder / "log.moz_log").read()


def mode(one: LookUp) -> HandshakeMode | None:
    assert one.connection is not None
    assert one.request is not None
    return one.connection.judge_handshake(one.request)


@pytest.mark.parametrize(("full", "expected"), [(True, HandshakeMode.FULL), (False, HandshakeMode.RESUMED)])
def test_look_ups_over_h2_share_a_connection_whose_certificate_was_looked_at_or_not(
    tmp_path: Path, full: bool, expected: HandshakeMode
) -> None:
    made = MadeLog()
    made.look_up("A.example.", 65, "1")
    made.look_up("a.example", 1, "2")
    made.h2("c0", "1", full=full)
    made.further("c0", "2")
    made.answer("a.example", 1)
    made.answer("a.example", 65, 2)
    log = made.read(tmp_path)
    (connection,) = log.connections
    assert (connection.host, connection.carrier, connection.protocol) == (HOST, ConnectionTransport.TCP, "h2")
    assert [(one.name, one.qtype, one.rcode, mode(one)) for one in log.look_ups] == [
        ("a.example", "HTTPS", "SERVFAIL", expected), ("a.example", "A", "NOERROR", expected),
    ]  # fmt: skip
    assert log.unix_offset_ms == 0
    assert connection.opened_ms == 1_000_000 + 10


@pytest.mark.parametrize(("full", "expected"), [(True, HandshakeMode.FULL), (False, None)])
def test_over_h3_a_ticket_leaves_open_whether_there_was_early_data(
    tmp_path: Path, full: bool, expected: HandshakeMode | None
) -> None:
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    made.h3("b0", "1", full=full)
    made.answer("a.example", 1)
    log = made.read(tmp_path)
    assert (log.connections[0].carrier, log.connections[0].resumed) == (ConnectionTransport.QUIC, not full)
    assert mode(log.look_ups[0]) is expected


def test_an_h3_connection_without_an_answer_is_not_judged(tmp_path: Path) -> None:
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    made.h3("b0", "1", full=False)
    made.answer("a.example", 1, None, CUT_OFF)
    (one,) = made.read(tmp_path).look_ups
    assert (one.rcode, one.error, mode(one)) == (None, "NS_ERROR_NET_RESET", None)


def test_two_different_handshakes_before_one_is_told_are_not_judged(tmp_path: Path) -> None:
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    made.handshake("99", full=False)
    made.h2("c0", "1")
    assert mode(made.read(tmp_path).look_ups[0]) is None


def test_an_older_handshake_nobody_was_told_of_is_not_the_next_ones(tmp_path: Path) -> None:
    made = MadeLog()
    made.handshake("99", full=False)
    for _ in range(600):
        made.add("nsHostResolver something else")
    made.look_up("a.example", 1, "1")
    made.h2("c0", "1")
    assert mode(made.read(tmp_path).look_ups[0]) is HandshakeMode.FULL


def test_two_handshakes_of_one_kind_are_those_of_the_two_told_after_them(tmp_path: Path) -> None:
    made = MadeLog()
    for pointer in ("1", "2"):
        made.look_up(f"{pointer}.example", 1, pointer)
        made.add(f"nsHttp nsHttpConnection::Init this=c{pointer} sockettransport=e1 forWebSocket=0", level="E")
        made.add(f"nsHttp nsHttpConnection::Activate [this=c{pointer} trans=a{pointer} caps=1]", level="E")
        made.handshake("5" + pointer, full=False)
    made.told("1")
    made.told("2")
    assert [mode(one) for one in made.read(tmp_path).look_ups] == [HandshakeMode.RESUMED] * 2


@pytest.mark.parametrize(
    ("word", "expected"),
    [("accepted", HandshakeMode.ZERO_RTT), ("sent", None), ("", HandshakeMode.RESUMED)],
)
@pytest.mark.parametrize("over", ["h2", "h3"])
def test_an_answers_head_tells_whether_its_request_was_early_data(
    tmp_path: Path, over: str, word: str, expected: HandshakeMode | None
) -> None:
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    if over == "h2":
        made.add("nsHttp nsHttpConnection::Init this=c0 sockettransport=e1 forWebSocket=0", level="E")
        made.further("c0", "1")
        made.add("nsHttp TlsHandshaker::Check0RttEnabled c0 -early selected alpn: h2", level="E")
        made.handshake("5c0", full=False)
        made.told("1")
    else:
        made.h3("b0", "1", full=False)
    made.head("1", word)
    made.answer("a.example", 1)
    log = made.read(tmp_path)
    assert mode(log.look_ups[0]) is expected
    assert log.connections[0].early_data is {"accepted": True, "sent": None, "": False}[word]


def test_early_data_without_an_answers_head_is_not_judged(tmp_path: Path) -> None:
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    made.add("nsHttp nsHttpConnection::Init this=c0 sockettransport=e1 forWebSocket=0", level="E")
    made.further("c0", "1")
    made.add("nsHttp TlsHandshaker::Check0RttEnabled c0 -early selected alpn: h2", level="E")
    made.handshake("5c0", full=False)
    made.told("1")
    assert mode(made.read(tmp_path).look_ups[0]) is None


def test_connections_of_pages_and_lines_of_other_threads_are_none_of_the_look_ups(tmp_path: Path) -> None:
    made = MadeLog()
    made.add("nsHttp nsHttpTransaction::Init [this=a9 caps=401001]", level="E", thread="Main Thread")
    made.look_up("a.example", 1, "1")
    made.h2("c0", "1")
    made.answer("a.example", 1)
    made.h2("c1", "9", host="a.example", full=False)
    log = made.read(tmp_path)
    assert [one.host for one in log.connections] == [HOST]
    assert log.connections[0].resumed is False


def test_a_pointer_used_again_is_another_transaction(tmp_path: Path) -> None:
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    made.h2("c0", "1")
    made.answer("a.example", 1)
    made.add("nsHttp nsHttpTransaction::Init [this=a1 caps=401001]", level="E", thread="Main Thread")
    made.h2("c1", "1", host="a.example", full=False)
    (one,) = made.read(tmp_path).look_ups
    assert mode(one) is HandshakeMode.FULL


def test_a_log_is_followed_load_by_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "log.moz_log"
    followed = FirefoxLogFollower(file)
    with pytest.raises(ConfigurationError, match="failed to read Firefox's log"):
        followed.read()
    made = MadeLog()
    made.look_up("a.example", 1, "1")
    made.h2("c0", "1")
    whole = "\n".join(made.lines) + "\n"
    file.write_text(whole[:-9])
    assert [one.name for one in followed.read().look_ups] == ["a.example"]
    monkeypatch.setattr("time.time", lambda: 1_000.0 + len(made.lines) / 1000)
    followed.mark()
    made.look_up("b.example", 1, "2")
    made.further("c0", "2")
    file.write_text("\n".join(made.lines) + "\n")
    log = followed.read()
    assert [one.name for one in log.look_ups] == ["b.example"]
    assert [one.host for one in log.connections] == [HOST], "it was used, though opened before"
