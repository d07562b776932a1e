"""A load's record has what was judged; the sum of two measurements is made of this trial's own."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from made_loads import CONDITION, HOST, SITE, connection, edge_query, request
from recorded_queries import recorded

from resolab.basics.records import (
    BrowserKind,
    ConnectionState,
    DnsTransport,
    Failure,
    HandshakeMode,
    PageFailure,
    QueryPurpose,
)
from resolab.browser import PageLoad, PageTimings
from resolab.trials.page_load import judgement
from resolab.trials.page_load.lookup import LoadSpan
from resolab.trials.page_load.records_of_load import LoadContext, page_load_record, plt_sum_ms

TIMINGS = PageTimings(domain_lookup_start_ms=5.0, domain_lookup_end_ms=105.0, plt_ms=600.0)
LOAD = PageLoad(url=f"https://{HOST}/", measured=True, limit_ms=1000.0, timings=TIMINGS)


def exchange(**changes):
    base = {"purpose": QueryPurpose.MEASURED, "dns_transport": DnsTransport.DOH, "failure": None}
    return msgspec.structs.replace(recorded()[0], **(base | {"query_response_time_ns": 250_000_000} | changes))


def test_the_sum_has_the_separate_look_up_in_place_of_the_browsers():
    assert plt_sum_ms(LOAD, [exchange(dns_transport=DnsTransport.DOQ), exchange()], CONDITION) == 750.0


def test_firefox_waits_for_the_https_record_before_its_look_up():
    timings = PageTimings(fetch_start_ms=2.0, domain_lookup_start_ms=101.0, domain_lookup_end_ms=102.0, plt_ms=600.0)
    load = msgspec.structs.replace(LOAD, timings=timings)
    assert plt_sum_ms(load, [exchange()], replace(CONDITION, browser=BrowserKind.FIREFOX)) == 750.0


@pytest.mark.parametrize(
    ("load", "exchanges"),
    [
        (LOAD, []),
        (LOAD, [exchange(failure=Failure.QUERY_TIMEOUT)]),
        # What was asked after it over the same connection is no cold exchange.
        (LOAD, [exchange(failure=Failure.QUERY_TIMEOUT), exchange(connection=ConnectionState.WARM)]),
        (LOAD, [exchange(purpose=QueryPurpose.FORWARDED)]),
        (msgspec.structs.replace(LOAD, timings=PageTimings(plt_ms=600.0)), [exchange()]),
        (msgspec.structs.replace(LOAD, failure=PageFailure.PAGE_TIMEOUT), [exchange()]),
    ],
)
def test_there_is_no_sum_of_what_was_not_measured(load, exchanges):
    assert plt_sum_ms(load, exchanges, CONDITION) is None


@pytest.mark.parametrize(
    "asked",
    [
        {"dns_connection_state": ConnectionState.WARM},
        {"requested_dns_handshake_mode": HandshakeMode.RESUMED},
        {"requested_dns_handshake_mode": HandshakeMode.ZERO_RTT},
        {"resolver_miss_ratio": 0.25},
    ],
)
def test_a_cold_full_exchange_is_not_added_to_a_load_whose_look_up_was_to_be_otherwise(asked):
    assert plt_sum_ms(LOAD, [exchange()], CONDITION) == 750.0
    assert plt_sum_ms(LOAD, [exchange()], replace(CONDITION, **asked)) is None


def test_the_record_says_what_happened_beside_what_was_asked():
    load = msgspec.structs.replace(LOAD, console_errors=["x"], screenshot_file=Path("/out/screenshots/a.png"))
    records = [edge_query(), connection(), request(session_resumed=True, received_ns=1200)]
    judged = judgement.judge(load, records, SITE, LoadSpan(500), judgement.cold_states())
    record = page_load_record(load, judged, LoadContext("153.7", CONDITION), plt_sum_ms=1.0)
    assert (record.browser, record.browser_version, record.plt_ms, record.plt_sum_ms) == (
        "chromium",
        "153.7",
        600.0,
        1.0,
    )
    assert (record.requested_handshake_mode, record.handshake_mode) == (HandshakeMode.FULL, HandshakeMode.RESUMED)
    assert (record.dns_connection_state, record.dns_handshake_mode) == (ConnectionState.COLD, HandshakeMode.FULL)
    assert (record.console_errors, record.screenshot_file) == (["x"], "screenshots/a.png")
