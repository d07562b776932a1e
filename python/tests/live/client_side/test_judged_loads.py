"""Loads judged from the client's side: by a log, by channels, by the stub, by our own repeats, and not at all."""

from dataclasses import replace
from typing import Any

import pytest

from resolab.basics.records import (
    Bootstrap,
    ConnectionState,
    DnsFailure,
    DnsTransport,
    Failure,
    HandshakeMode,
    PageFailure,
    QueryPurpose,
    QueryRecord,
)
from resolab.browser import LoadResult, NetworkRequest, Overhead, PageLoad, PageTimings
from resolab.browser.browser_log import BrowserConnection, BrowserLog, ConnectionTransport, LookUp, RequestHead
from resolab.trials.live.client_side import FailureSource, LiveLoadJudgement, judge_load

BEGIN_MS, OFFSET_MS = 1_000.0, 5_000_000.0
PAGE = "https://a.example/?x=1"


def load(failure: PageFailure | None = None, *requests: NetworkRequest, began: bool = True) -> LoadResult:
    timings = PageTimings(navigation_start_unix_ms=OFFSET_MS + BEGIN_MS if began else None)
    measured = PageLoad(url=PAGE, measured=True, limit_ms=1, timings=timings, failure=failure, network=list(requests))
    return LoadResult(warmup=None, measured=measured, overhead=Overhead())


def connection(at: float, *requests: RequestHead, host: str = "a.example", **told: Any) -> BrowserConnection:
    default = {"resumed": False, "early_data": False, "address": "192.0.2.1", "protocol": "h2"}
    return BrowserConnection(host=host, opened_ms=at, requests=requests, **(default | told))


def document(at: float, *, early: bool | None = False) -> RequestHead:
    return RequestHead(at, "a.example", "/?x=1", early)


RESOLVER = connection(
    BEGIN_MS + 1, RequestHead(BEGIN_MS + 20, "dns.example", "/q", in_early_data=False), host="dns.example"
)
LOOK_UP = LookUp(
    name="a.example", qtype="A", begun_ms=BEGIN_MS + 1, ended_ms=BEGIN_MS + 30, rcode="NOERROR",
    connection=RESOLVER, request=RESOLVER.requests[0],
)  # fmt: skip


def log(*connections: BrowserConnection, look_ups: tuple[LookUp, ...] = ()) -> BrowserLog:
    return BrowserLog(connections=connections, look_ups=look_ups, unix_offset_ms=OFFSET_MS, is_cut_off=True)


def query(name: str = "a.example", **told: Any) -> QueryRecord:
    default: dict[str, Any] = {
        "dns_transport": DnsTransport.DOT, "resolver": "r", "bootstrap": Bootstrap.GIVEN, "qname": f"{name}.",
        "qtype": "A", "purpose": QueryPurpose.FORWARDED, "sequence": 0, "time_origin_ns": 1, "query_bytes": 1,
        "attempt_count": 1, "addresses": [], "connection": ConnectionState.COLD, "handshake_mode": HandshakeMode.FULL,
        "rcode": "NOERROR",
    }  # fmt: skip
    return QueryRecord(**(default | told))


def test_without_any_word_nothing_is_known() -> None:
    assert judge_load(load(), None, (), ()) == LiveLoadJudgement()


@pytest.mark.parametrize(
    ("told", "early", "mode"),
    [
        ({}, False, HandshakeMode.FULL),
        ({"resumed": True}, False, HandshakeMode.RESUMED),
        ({"resumed": True, "early_data": True}, True, HandshakeMode.ZERO_RTT),
        ({"resumed": True, "early_data": True}, False, HandshakeMode.RESUMED),
        ({"resumed": True, "early_data": True}, None, None),
        ({"resumed": None}, False, None),
    ],
)
def test_the_documents_handshake_is_its_first_requests(
    told: dict[str, Any], early: bool | None, mode: HandshakeMode | None
) -> None:
    other = connection(BEGIN_MS, replace(document(BEGIN_MS + 1), path="/other"), resumed=not told.get("resumed"))
    later = connection(BEGIN_MS + 90, document(BEGIN_MS + 99), resumed=not told.get("resumed"))
    one = connection(BEGIN_MS + 5, document(BEGIN_MS + 30, early=early), **told)
    assert judge_load(load(), log(other, later, one), (), ()).handshake_mode is mode


def test_a_warm_up_before_the_navigation_is_not_judged() -> None:
    warm_up = connection(BEGIN_MS - 200, document(BEGIN_MS - 100), resumed=False)
    measured = connection(BEGIN_MS + 10, document(BEGIN_MS + 20), resumed=True)
    judged = judge_load(load(), log(warm_up, measured), (), ())
    assert judged.handshake_mode is HandshakeMode.RESUMED
    assert [one.opened_ms for one in judged.connections] == [10]


@pytest.mark.parametrize(("opened_ms", "state"), [(1, ConnectionState.COLD), (-50, ConnectionState.WARM)])
def test_the_look_ups_connection_was_opened_for_it_or_there(opened_ms: float, state: ConnectionState) -> None:
    resolver = replace(RESOLVER, opened_ms=BEGIN_MS + opened_ms, resumed=True)
    judged = judge_load(load(), log(resolver, look_ups=(replace(LOOK_UP, connection=resolver),)), (), ())
    assert (judged.dns_handshake_mode, judged.dns_connection_state) == (HandshakeMode.RESUMED, state)
    assert [(one.host, one.is_resolver) for one in judged.connections] == [("dns.example", True)]


def test_a_look_up_over_do53_has_no_connection_and_no_handshake() -> None:
    plain = replace(LOOK_UP, connection=None, request=None)
    judged = judge_load(load(), log(look_ups=(plain,)), (), ())
    assert (judged.dns_handshake_mode, judged.dns_connection_state) == (None, None)


def test_of_look_ups_of_other_names_nothing_is_taken() -> None:
    judged = judge_load(load(), log(RESOLVER, look_ups=(replace(LOOK_UP, name="b.example"),)), (), ())
    assert (judged.dns_handshake_mode, judged.connections[0].is_resolver) == (None, True)


@pytest.mark.parametrize(
    ("transport", "mode", "state"),
    [
        (DnsTransport.DOT, HandshakeMode.RESUMED, ConnectionState.COLD),
        (DnsTransport.DOTCP, None, ConnectionState.COLD),
        (DnsTransport.DOUDP, None, None),
    ],
)
def test_behind_a_stub_the_stub_tells(
    transport: DnsTransport, mode: HandshakeMode | None, state: ConnectionState | None
) -> None:
    first = query(dns_transport=transport, handshake_mode=HandshakeMode.RESUMED)
    second = query(dns_transport=transport, time_origin_ns=2, connection=ConnectionState.WARM)
    own = query(purpose=QueryPurpose.MEASURED, time_origin_ns=0)
    other = query("b.example", time_origin_ns=0)
    judged = judge_load(load(), None, (second, own, first, other), ())
    assert (judged.dns_handshake_mode, judged.dns_connection_state) == (mode, state)


def failed(*look_ups: LookUp, stub: tuple[QueryRecord, ...] = (), own: tuple[QueryRecord, ...] = (), failure: PageFailure | None = PageFailure.DNS) -> tuple[DnsFailure | None, FailureSource | None]:  # fmt: skip
    judged = judge_load(load(failure, began=False), log(look_ups=look_ups), stub, own)
    return judged.dns_failure, judged.dns_failure_told_by


def asked(rcode: str | None = None, error: str | None = None, **told: Any) -> LookUp:
    return replace(LOOK_UP, connection=None, request=None, rcode=rcode, error=error, **told)


@pytest.mark.parametrize(
    ("look_up", "failure"),
    [
        (asked("NXDOMAIN", "ERR_NAME_NOT_RESOLVED"), DnsFailure.NXDOMAIN),
        (asked("SERVFAIL", "ERR_DNS_SERVER_FAILED"), DnsFailure.SERVFAIL),
        (asked("REFUSED", "ERR_DNS_REFUSED"), DnsFailure.REFUSED),
        (asked(None, "ERR_DNS_TIMED_OUT"), DnsFailure.TIMEOUT),
        (asked(None, "NS_ERROR_NET_TIMEOUT"), DnsFailure.TIMEOUT),
        (asked(None, "ERR_CONNECTION_REFUSED"), DnsFailure.TRANSPORT),
        (asked("NOERROR"), None),
        (asked("NOTIMP", "ERR_DNS_SERVER_FAILED"), None),
    ],
)
def test_a_failed_look_up_is_told_by_the_log(look_up: LookUp, failure: DnsFailure | None) -> None:
    assert failed(look_up) == (failure, FailureSource.BROWSER_LOG if failure else None)


def test_addresses_count_and_the_last_word() -> None:
    https = asked("REFUSED", qtype="HTTPS")
    assert failed(asked("SERVFAIL"), asked("NXDOMAIN"), https)[0] is DnsFailure.NXDOMAIN
    assert failed(https)[0] is DnsFailure.REFUSED


@pytest.mark.parametrize("error", ["ERR_ABORTED", "NS_ERROR_NET_RESET"])
def test_what_the_loads_limit_ended_had_no_answer_in_time(error: str) -> None:
    cut = asked(None, error)
    assert failed(cut, failure=PageFailure.PAGE_TIMEOUT)[0] is DnsFailure.TIMEOUT
    assert failed(cut)[0] is DnsFailure.TRANSPORT
    assert failed(asked("NOERROR"), failure=PageFailure.PAGE_TIMEOUT)[0] is None
    assert failed(asked(ended_ms=None), failure=PageFailure.PAGE_TIMEOUT)[0] is DnsFailure.TIMEOUT


def test_the_stub_goes_before_the_log_and_both_before_a_repeat() -> None:
    late = query(rcode=None, failure=Failure.QUERY_TIMEOUT)
    refused = query(purpose=QueryPurpose.MEASURED, rcode="REFUSED")
    assert failed(asked("NXDOMAIN"), stub=(late,), own=(refused,)) == (DnsFailure.TIMEOUT, FailureSource.STUB)
    assert failed(asked("NXDOMAIN"), own=(refused,)) == (DnsFailure.NXDOMAIN, FailureSource.BROWSER_LOG)
    assert failed(own=(refused,)) == (DnsFailure.REFUSED, FailureSource.OWN_QUERY)
    assert failed(own=(query(rcode="NOERROR"),)) == (None, None), "the repeat was answered: nobody knows"


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure.QUIC_HANDSHAKE_TIMEOUT, DnsFailure.TIMEOUT),
        (Failure.TCP_CONNECT_REFUSED, DnsFailure.TRANSPORT),
        (Failure.TLS_CERTIFICATE_INVALID, DnsFailure.TRANSPORT),
    ],
)
def test_a_query_that_got_no_answer(failure: Failure, expected: DnsFailure) -> None:
    assert failed(stub=(query(rcode=None, failure=failure),)) == (expected, FailureSource.STUB)


def test_a_load_that_did_not_fail_or_failed_elsewhere_has_no_failed_look_up() -> None:
    refused = query(purpose=QueryPurpose.MEASURED, rcode="REFUSED")
    assert failed(asked("SERVFAIL"), failure=None) == (None, None)
    assert failed(own=(refused,), failure=PageFailure.CONNECT) == (None, None)


def channel(**told: Any) -> NetworkRequest:
    default: dict[str, Any] = {
        "url": PAGE, "resource_type": "document", "method": "GET", "start_ms": 0.0, "protocol": "h3", "status": 200,
        "tls_version": "TLS 1.3", "session_resumed": False, "in_early_data": False, "connect_start_ms": 30.0,
        "connect_end_ms": 50.0, "remote_address": "192.0.2.1:443",
    }  # fmt: skip
    return NetworkRequest(**(default | told))


@pytest.mark.parametrize(
    ("told", "mode"),
    [
        ({}, HandshakeMode.FULL),
        ({"session_resumed": True}, HandshakeMode.RESUMED),
        ({"session_resumed": True, "in_early_data": True}, HandshakeMode.ZERO_RTT),
        ({"session_resumed": True, "in_early_data": None}, None),
        ({"session_resumed": None, "tls_version": None}, None),
    ],
)
def test_channels_tell_without_a_log(told: dict[str, Any], mode: HandshakeMode | None) -> None:
    other = channel(url="https://a.example/b", connect_start_ms=None, session_resumed=True, in_early_data=True)
    judged = judge_load(load(None, other, channel(**told)), None, (), ())
    assert judged.handshake_mode is mode


def test_a_channel_that_opened_a_connection_is_a_row() -> None:
    reused = channel(url="https://a.example/b", connect_start_ms=None)
    tcp = channel(url="https://b.example/", protocol="h2")
    rows = judge_load(load(None, channel(), reused, tcp), None, (), ()).connections
    told = [(one.host, one.transport, one.http_version, one.opened_ms, one.tls_handshake_ms) for one in rows]
    assert told == [
        ("a.example", ConnectionTransport.QUIC, "h3", 30, 20),
        ("b.example", ConnectionTransport.TCP, "h2", 30, None),
    ]
    assert all(one.request_count is None and one.tcp_connect_ms is None for one in rows)


def test_a_logged_connection_is_a_row_with_its_times() -> None:
    one = connection(
        BEGIN_MS + 4, document(BEGIN_MS + 60), document(BEGIN_MS + 70), connected_ms=BEGIN_MS + 20,
        handshake_start_ms=BEGIN_MS + 20, handshake_end_ms=BEGIN_MS + 55, tls_version="TLS 1.3",
    )  # fmt: skip
    unused = connection(BEGIN_MS + 5, resumed=None, protocol=None)
    first, second = judge_load(load(), log(one, unused), (), ()).connections
    assert (first.tcp_connect_ms, first.tls_handshake_ms, first.request_count) == (16, 35, 2)
    assert (second.handshake_mode, second.tcp_connect_ms, second.tls_handshake_ms) == (None, None, None)
