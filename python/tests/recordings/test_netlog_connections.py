"""Connections of Chromium's netlogs: who opened them, who used them, which names shared one, and broken files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_har import START, entry, har
from made_netlog import OFFSET_MS, MadeNetlog
from test_navigations import load

from resolab.basics.errors import ConfigurationError
from resolab.browser.browser_log import BrowserConnection, BrowserLog, ConnectionTransport, RequestHead, SharingReason
from resolab.browser.chromium.netlog import read_netlog
from resolab.cli.main import main
from resolab.extras.recordings.netlog import PageConnections, import_with_netlog
from resolab.extras.recordings.netlog.connections import page_connections
from resolab.extras.recordings.netlog.matching import can_be_chromium
from resolab.pages.model import PageModel


def read(made: MadeNetlog, folder: Path, **how: Any) -> BrowserLog:
    (folder / "net.json").write_text(made.text(**how))
    return read_netlog(folder / "net.json")


def only(log: BrowserLog) -> BrowserConnection:
    (one,) = log.connections
    return one


def test_a_connection_of_tcp_and_tls_with_its_instants_and_requests(tmp_path: Path) -> None:
    made = MadeNetlog()
    socket = made.socket(100, "192.0.2.7", took=30)
    made.h2(170, socket, "a.example", "a.example", "a.example")
    made.add(900, ("SOCKET", socket), "SOCKET_ALIVE", 2)
    one = only(read(made, tmp_path))
    assert (one.host, one.address, one.protocol, one.resumed, one.early_data) == (
        "a.example",
        "192.0.2.7",
        "h2",
        False,
        False,
    )
    assert (one.opened_ms, one.connected_ms, one.handshake_start_ms, one.handshake_end_ms) == (100, 130, 130, 160)
    assert one.closed_ms == 900
    assert one.requests == (RequestHead(170, "a.example", "/", in_early_data=False),) * 2
    assert one.certificate is not None
    assert not one.shared_with


def test_a_certificate_is_told_by_its_verifier_or_where_it_is_known_good_by_the_socket(tmp_path: Path) -> None:
    made = MadeNetlog()
    for known, certificate in ((False, "ONE"), (True, "ONE"), (True, "TWO")):
        made.socket(100, known=known, certificate=certificate)
    first, again, other = (one.certificate for one in read(made, tmp_path).connections)
    assert first == again != other


@pytest.mark.parametrize(("reason", "expected"), [(2, True), (4, False), (None, False)])
def test_resumption_and_early_data_of_tls(tmp_path: Path, reason: int | None, expected: bool) -> None:
    made = MadeNetlog()
    made.socket(100, resumed=True, early=reason)
    one = only(read(made, tmp_path))
    assert (one.resumed, one.early_data) == (True, expected)


@pytest.mark.parametrize(
    ("state", "resumed", "early"),
    [("NotAttempted", None, False), ("AttemptedAndSucceeded", True, True), ("AttemptedAndRejected", None, False)],
)
def test_a_connection_of_quic(tmp_path: Path, state: str, resumed: bool | None, early: bool) -> None:
    made = MadeNetlog()
    made.quic(100, "a.example", "a.example", address="[2001:db8::1]", state=state)
    one = only(read(made, tmp_path))
    assert (one.host, one.address, one.protocol, one.connected_ms) == ("a.example", "2001:db8::1", "h3", 120)
    assert (one.handshake_start_ms, one.handshake_end_ms, one.resumed, one.early_data) == (100, 120, resumed, early)
    assert one.requests == (RequestHead(120, "a.example", "/", in_early_data=early and None),)
    assert (one.carrier, one.tls_version) == (ConnectionTransport.QUIC, "TLS 1.3")


def test_requests_over_http_1_are_those_of_the_jobs_that_got_the_socket(tmp_path: Path) -> None:
    made = MadeNetlog()
    # A session's requests name themselves; the job that got its socket is not counted again.
    made.h2(170, (session_socket := made.socket(90, host="h2.example")), "h2.example", "h2.example")
    made.h1(165, session_socket, "https://h2.example/")
    first, second = made.socket(100, alpn="http/1.1"), made.socket(110, alpn=None, host="plain.example")
    made.h1(150, first, "https://a.example/1", "https://a.example/2")
    made.h1(160, second, "http://plain.example/")
    log = read(made, tmp_path)
    assert [(one.host, one.protocol, len(one.requests)) for one in log.connections] == [
        ("h2.example", "h2", 1), ("a.example", "h1", 2), ("plain.example", "h1", 1),
    ]  # fmt: skip


def shared(folder: Path) -> BrowserLog:
    """One page: two names on one h2 connection, two on one h3 connection, a wasted one of each, one that failed."""
    made = MadeNetlog()
    socket = made.socket(100, "192.0.2.1")
    session = made.h2(130, socket, "a.example", "a.example", "b.example", "c.example")
    made.pooled(125, session, "b.example")
    made.socket(101, "192.0.2.1")
    quic = made.quic(200, "e.example", "e.example", "f.example", "g.example")
    made.add(215, ("QUIC_SESSION_POOL", 999), "QUIC_SESSION_POOL_MATCHING_IP_SESSION_FOUND", of=quic, destination="https://f.example")  # fmt: skip
    made.add(215, ("QUIC_SESSION_POOL", 999), "QUIC_SESSION_POOL_POOLED_WITH_DIFFERENT_IP_SESSION", of=quic, destination="https://g.example")  # fmt: skip
    made.quic(201, "f.example")
    made.quic(202, "h.example", took=None)
    made.socket(203, "192.0.2.3", error=-102, host="i.example")
    made.h2(430, made.socket(400, "192.0.2.4", resumed=True, host="i.example"), "i.example", "i.example")
    made.socket(50, host="update.example")
    return read(made, folder)


NAMES = frozenset(f"{letter}.example" for letter in "abcefghi")


def test_names_on_connections_of_others_and_why(tmp_path: Path) -> None:
    log = shared(tmp_path)
    assert [dict(one.shared_with) for one in log.connections if one.shared_with] == [
        {"b.example": SharingReason.ADDRESS, "c.example": SharingReason.UNTOLD},
        {"f.example": SharingReason.ADDRESS, "g.example": SharingReason.CERTIFICATE},
    ]
    assert page_connections(log.connections, NAMES) == PageConnections(
        connections_count=5, unused_count=2, failed_count=2, full_handshakes_count=2, resumed_handshakes_count=1,
        early_data_count=0, untold_handshakes_count=2, by_protocol={"h2": 3, "h3": 2}, names_count=7,
        sharing_names_count=4, shared={"address": 2, "certificate": 1, "untold": 1},
    )  # fmt: skip


def test_a_file_is_read_packed_cut_off_and_while_it_is_written(tmp_path: Path) -> None:
    made = MadeNetlog()
    made.h2(130, made.socket(100), "a.example", "a.example", "b.example")
    whole = read(made, tmp_path)
    assert not whole.is_cut_off
    assert whole.unix_offset_ms == OFFSET_MS
    (tmp_path / "net.json.gz").write_bytes(gzip.compress(made.text().encode()))
    assert read_netlog(tmp_path / "net.json.gz") == whole
    written = read(made, tmp_path, end=",\n")
    assert written.is_cut_off
    assert written.connections == whole.connections
    text = made.text()
    (tmp_path / "net.json").write_text(text[: text.rindex("b.example")])
    cut = read_netlog(tmp_path / "net.json")
    assert cut.is_cut_off
    assert [len(one.requests) for one in cut.connections] == [1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it has no events, one a line"),
        (b'{"log": {}}', "it has no events, one a line"),
        (b'{"a":1},\n"events": [\n', "its head cannot be read"),
        (b'{"constants":[],\n"events": [\n', "its head cannot be read"),
        (b"\x1f\x8bnonsense", "failed to read netlog"),
    ],
)
def test_what_is_no_netlog_is_told_in_a_line(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "net.json").write_bytes(content)
    with pytest.raises(ConfigurationError, match=said) as caught:
        read_netlog(tmp_path / "net.json")
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="failed to read netlog"):
        read_netlog(tmp_path / "nowhere.json")


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just({}) | st.just([[]])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_stands_in_a_log_is_a_result_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    made = MadeNetlog()
    made.pooled(125, made.h2(130, made.socket(100), "a.example", "a.example", "b.example"), "b.example")
    made.h1(150, made.socket(100, alpn="http/1.1"), "https://a.example/1")
    made.quic(200, "e.example", "e.example")
    for _ in range(data.draw(st.integers(1, 3))):
        holder: Any = data.draw(st.sampled_from(made.events))
        key = data.draw(st.sampled_from(sorted(holder)))
        if key == "params" and isinstance(holder[key], dict) and holder[key]:
            holder, key = holder["params"], data.draw(st.sampled_from(sorted(holder["params"])))
        holder[key] = data.draw(VALUES)
    (folder / "net.json").write_text(made.text(offset=data.draw(VALUES)))
    try:
        log = read_netlog(folder / "net.json")
    except ConfigurationError:
        return
    page_connections(log.connections, {"a.example"})


SITE = "https://a.example"


def joined(folder: Path, log: MadeNetlog, *entries: dict[str, Any]) -> tuple[PageModel, PageConnections]:
    (folder / "a.har").write_text(json.dumps(har(*entries)))
    return import_with_netlog(folder / "a.har", "a", read(log, folder))


def losses(model: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in model.losses}


def on_clock(at_ms: float) -> int:
    """Convert an instant of a made HAR to the log's clock."""
    return round(START.timestamp() * 1e3 + at_ms - OFFSET_MS)


def page_log() -> MadeNetlog:
    made = MadeNetlog()
    socket = made.socket(on_clock(5), "192.0.2.1", certificate="ONE")
    made.pooled(on_clock(50), made.h2(on_clock(30), socket, "a.example", "a.example", "b.example"), "b.example")
    made.socket(on_clock(6), "192.0.2.1", certificate="ONE")
    made.h2(on_clock(90), made.socket(on_clock(60), "192.0.2.2", host="c.example", certificate="TWO"), "c.example", "c.example")  # fmt: skip
    # Of another load, an hour later.
    made.h2(
        on_clock(3_600_100), made.socket(on_clock(3_600_000), "192.0.2.3", host="c.example"), "c.example", "c.example"
    )
    return made


ENTRIES = (entry(f"{SITE}/", 0, "document"), *(entry(f"https://{letter}.example/x", 50) for letter in "bcd"))


def test_a_model_s_hosts_get_what_the_recording_did_not_tell(tmp_path: Path) -> None:
    model, connections = joined(tmp_path, page_log(), *ENTRIES)
    assert [host.connection_count for host in model.hosts] == [2, 0, 1, None], "b went over a's; of d nothing is known"
    assert [host.address_group for host in model.hosts] == [0, 0, 1, None]
    assert [host.certificate for host in model.hosts] == [0, 0, 1, None]
    assert all(host.name is None for host in model.hosts)
    assert losses(model)["addresses of servers"] == losses(model)["certificates of servers"] == 1
    assert not any(what.startswith("netlog") for what in losses(model))
    assert (connections.connections_count, connections.unused_count, connections.sharing_names_count) == (3, 1, 1)


def test_what_the_recording_told_is_kept(tmp_path: Path) -> None:
    entries = (
        entry(f"{SITE}/", 0, "document", serverIPAddress="192.0.2.9", connection="7"),
        entry("https://b.example/x", 50, serverIPAddress="192.0.2.8"),
        entry("https://c.example/x", 50),
    )
    model, _ = joined(tmp_path, page_log(), *entries)
    assert [host.address_group for host in model.hosts] == [0, 1, 2]
    assert [host.connection_count for host in model.hosts] == [1, 0, 1]


def one_connection(at: int, host: str = "a.example") -> MadeNetlog:
    made = MadeNetlog()
    made.h2(at + 25, made.socket(at, host=host), host, host)
    return made


def test_a_log_without_a_clock_or_an_end_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_text(json.dumps(har(entry(f"{SITE}/", 0, "document"))))
    (tmp_path / "net.json").write_text(one_connection(5).text(end="").replace("timeTickOffset", "another"))
    log = read_netlog(tmp_path / "net.json")
    model, connections = import_with_netlog(tmp_path / "a.har", "a", log)
    assert connections.connections_count == 1
    assert {what for what in losses(model) if what.startswith("netlog")} == {
        "netlog: it has no clock, so that all of its connections are taken",
        "netlog: what came after its last line; it was cut off",
    }


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (one_connection(on_clock(3_180_000)), "3,180 s after the recording's last answer"),
        (one_connection(on_clock(-14_000)), "14 s before the recording's first"),
        (one_connection(on_clock(10), "other.example"), "none of its connections is to a host of the recording"),
        (MadeNetlog(), "it has no connection"),
    ],
    ids=["later", "before", "of other hosts", "empty"],
)
def test_a_log_of_another_load_is_refused_by_name(tmp_path: Path, made: MadeNetlog, said: str) -> None:
    made.names.setdefault("TCP_CONNECT", 99)
    with pytest.raises(ConfigurationError, match=said) as caught:
        joined(tmp_path, made, entry(f"{SITE}/", 0, "document"))
    assert "a.har" in str(caught.value)
    assert "the log of the same load, or leave --netlog out" in str(caught.value)


@pytest.mark.parametrize(
    ("told", "maker"),
    [
        ({"browser": {"name": "Firefox", "version": "140"}}, "Firefox 140"),
        ({"browser": {"name": "webkit", "version": "18.4"}, "creator": {"name": "Playwright", "version": "1.5"}}, "webkit 18.4"),
        ({"creator": {"name": "WebKit Web Inspector", "version": "1"}}, "WebKit Web Inspector 1"),
        ({"browser": {"name": "Mobile Safari", "version": "18"}, "creator": {"name": "x", "version": "1"}}, "Mobile Safari 18"),
        ({"creator": {"name": "Firebug", "version": "1.9"}}, "Firebug 1.9"),
        ({"browser": {"name": "Internet Explorer", "version": "11"}}, "Internet Explorer 11"),
    ],
)  # fmt: skip
def test_a_recording_of_another_browser_has_no_log_of_chromium(
    tmp_path: Path, told: dict[str, object], maker: str
) -> None:
    (tmp_path / "a.har").write_text(json.dumps(har(*ENTRIES, **told)))
    with pytest.raises(ConfigurationError, match=f"the recording is of {maker}, the log of Chromium"):
        import_with_netlog(tmp_path / "a.har", "a", read(page_log(), tmp_path))


@pytest.mark.parametrize(
    "maker",
    [
        "WebInspector 537.36", "Chrome 140", "chromium 140.0", "HeadlessChrome", "Microsoft Edge 140", "Opera 120",
        "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36", "mitmproxy 11", "Fiddler 5",
        "WebPageTest", "",
    ],
)  # fmt: skip
def test_a_recording_that_can_be_of_chromium_is_taken(maker: str) -> None:
    assert can_be_chromium(maker)


def test_a_log_of_the_devtools_protocol_has_the_clock_of_its_netlog(tmp_path: Path) -> None:
    """Seconds there, milliseconds here, of the same ticks."""
    (tmp_path / "cdp.json").write_text(json.dumps(load(1, 20_012.9, f"{SITE}/")))
    model, connections = import_with_netlog(tmp_path / "cdp.json", "a", read(one_connection(20_012_905), tmp_path))
    assert (connections.connections_count, model.hosts[0].connection_count) == (1, 1)
    assert not any(what.startswith("netlog") for what in losses(model))
    with pytest.raises(ConfigurationError, match="14 s after the recording's last answer"):
        import_with_netlog(tmp_path / "cdp.json", "a", read(one_connection(20_027_000), tmp_path))


@pytest.mark.parametrize("share", [0.6, 0.95])
def test_a_packed_log_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path, share: float) -> None:
    made = MadeNetlog()
    for number in range(2_000):
        made.socket(100 + number, f"192.0.2.{number % 250}", host=f"h{number * 7919 % 9973}.example")
    packed = gzip.compress(made.text().encode())
    (tmp_path / "net.json.gz").write_bytes(packed[: int(len(packed) * share)])
    log = read_netlog(tmp_path / "net.json.gz")
    assert log.is_cut_off
    assert 2_000 * (share - 0.3) < len(log.connections) < 2_000


def packed_log() -> bytes:
    made = MadeNetlog()
    for number in range(300):
        made.h2(on_clock(25), made.socket(on_clock(number % 50), host=f"h{number * 7919 % 9973}.example"), "a.example", "a.example")  # fmt: skip
    return gzip.compress(made.text().encode())


@pytest.mark.parametrize("place", [0.3, 0.5, 0.7, 0.9])
def test_the_loss_of_a_damaged_packed_log_is_told(tmp_path: Path, place: float) -> None:
    damaged = bytearray(packed_log())
    damaged[int(len(damaged) * place)] ^= 0xFF
    (tmp_path / "net.json.gz").write_bytes(damaged)
    (tmp_path / "a.har").write_text(json.dumps(har(entry(f"{SITE}/", 0, "document"))))
    log = read_netlog(tmp_path / "net.json.gz")
    assert log.is_damaged
    model, _ = import_with_netlog(tmp_path / "a.har", "a", log)
    assert "netlog: what its damaged part told" in losses(model)


def test_a_wrong_checksum_alone_is_damage(tmp_path: Path) -> None:
    damaged = bytearray(packed_log())
    damaged[-8] ^= 1
    (tmp_path / "net.json.gz").write_bytes(damaged)
    log = read_netlog(tmp_path / "net.json.gz")
    assert (log.is_damaged, log.is_cut_off, len(log.connections)) == (True, False, 300)


def test_a_broken_line_of_a_plain_log_is_damage_and_a_cut_off_one_is_not(tmp_path: Path) -> None:
    text = page_log().text()
    lines = text.split("\n")
    (tmp_path / "net.json").write_text("\n".join([*lines[:-4], lines[-4][5:-9], *lines[-3:]]))
    assert read_netlog(tmp_path / "net.json").is_damaged
    (tmp_path / "net.json").write_text(text[: text.rindex('"time"')])
    log = read_netlog(tmp_path / "net.json")
    assert (log.is_cut_off, log.is_damaged) == (True, False)
    (tmp_path / "net.json").write_text(text)
    assert not read_netlog(tmp_path / "net.json").is_damaged


def test_bytes_behind_a_whole_packed_log_are_no_damage(tmp_path: Path) -> None:
    (tmp_path / "net.json.gz").write_bytes(packed_log() + b"junk")
    log = read_netlog(tmp_path / "net.json.gz")
    assert (log.is_damaged, log.is_cut_off, len(log.connections)) == (False, False, 300)


def test_a_packed_log_without_a_whole_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.json.gz").write_bytes(gzip.compress(page_log().text().encode())[:40])
    with pytest.raises(ConfigurationError, match="failed to read netlog"):
        read_netlog(tmp_path / "net.json.gz")


def test_the_command_says_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.har").write_text(json.dumps(har(*ENTRIES)))
    Path("net.json").write_text(page_log().text())
    assert main(["page", "import", "a.har", "--netlog", "net.json"]) == 0
    assert (
        "  3 connections (h2 3); handshakes: 3 full, 0 resumed (0 with early data), 0 not told; "
        "1 of 3 names on connections of others alone; 1 by address and certificate; 1 unused\n"
    ) in capsys.readouterr().out
    assert "example" not in Path("a.page.json").read_text()
    assert main(["page", "import", "a.har", "--netlog", "net.json", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["connections"]["sharing_names_count"] == 1
    assert main(["page", "import", "a.har", "--netlog", "a.har", "--force"]) == 3
    assert "failed to read netlog a.har" in capsys.readouterr().err
    assert main(["page", "import", "a.har", "b.har", "--netlog", "net.json"]) == 3
    assert "--netlog is of one load" in capsys.readouterr().err
