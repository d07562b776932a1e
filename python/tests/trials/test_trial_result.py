"""What a trial keeps and how it is judged, from all that path, edge and stub wrote while it ran."""

from dataclasses import replace

import msgspec
import pytest
from made_loads import CONDITION, SITE, connection, edge_query, request
from recorded_queries import recorded

from resolab.basics.records import (
    ConnectionState,
    DirectionSummary,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    PathSummaryRecord,
    QueryPurpose,
    ResourceRecord,
    TrialFlag,
)
from resolab.browser import LoadResult, Overhead, PageLoad, PageTimings
from resolab.store.outcomes import PLT
from resolab.trials.page_load.records_of_load import LoadContext, last_byte_ms
from resolab.trials.page_load.result import TrialInstants, TrialObservations, trial_result
from resolab.trials.trial_result import select_trial_records

BEGAN = TrialInstants(trial_ns=1000, load_ns=2000, measured_ns=3000)
WARMUP = PageLoad(url=SITE.url, measured=False, limit_ms=1000.0)
MEASURED = PageLoad(url=SITE.url, measured=True, limit_ms=1000.0)
COLD, WARM = ConnectionState.COLD, ConnectionState.WARM
NOTHING = DirectionSummary(
    bytes_in_bytes=1, bytes_out_bytes=1, dropped_device_count=0, dropped_loss_count=0, dropped_queue_count=0,
    lateness_p99_ns=1, packets_in_count=1, packets_out_count=1,
)  # fmt: skip
SUMMARY = PathSummaryRecord(
    down=NOTHING, up=NOTHING, profile="4g", unrecognised_packets_count=0, window_start_ns=0, window_end_ns=1,
    label="measured",
)  # fmt: skip
PAGE = (request(received_ns=3300), connection(connection_id=1, protocol="quic", accepted_ns=3200))


def result(*records, warmup=None, condition=CONDITION, site=SITE, measured=MEASURED, exchanges=(), own_flags=()):
    seen = TrialObservations(
        site=site,
        began=BEGAN,
        load=LoadResult(measured=measured, warmup=warmup, overhead=Overhead()),
        exchanges=exchanges,
        records=[*records, SUMMARY],
        conductor_flags=own_flags,
    )
    return trial_result(seen, LoadContext("1", condition), lateness_p99_ms=0.5)


def loads(found):
    return [record for record in found.records if hasattr(record, "plt_ms")]


def test_a_clean_trial_has_no_flags():
    found = result(edge_query(received_ns=3100), connection(accepted_ns=3050), *PAGE)
    assert found.flags == []
    assert (loads(found)[-1].dns_connection_state, loads(found)[-1].socket_state) == (COLD, COLD)


def test_a_look_up_on_a_connection_of_an_earlier_trial_is_seen_and_flagged():
    leaked = connection(accepted_ns=10)
    found = result(edge_query(received_ns=3100), leaked, *PAGE)
    assert leaked in found.records
    assert loads(found)[-1].dns_connection_state is WARM
    assert found.flags == [TrialFlag.DNS_CONNECTION_MISMATCH]


def test_a_page_on_a_connection_of_an_earlier_trial_is_seen_and_flagged():
    leaked = connection(connection_id=1, protocol="quic", accepted_ns=10)
    found = result(edge_query(received_ns=3100), connection(accepted_ns=3050), PAGE[0], leaked)
    assert loads(found)[-1].socket_state is WARM
    assert found.flags == [TrialFlag.PAGE_CONNECTION_MISMATCH]


def test_a_connection_nobody_wrote_of_is_taken_for_an_open_one_and_flagged():
    found = result(edge_query(received_ns=3100), *PAGE)
    assert loads(found)[-1].dns_connection_state is WARM
    assert found.flags == [TrialFlag.DNS_CONNECTION_MISMATCH, TrialFlag.CONNECTION_RECORD_MISSING]
    warm = replace(CONDITION, dns_connection_state=WARM)
    assert result(edge_query(received_ns=3100), *PAGE, condition=warm).flags == [TrialFlag.CONNECTION_RECORD_MISSING]


def test_of_earlier_trials_only_what_this_one_used_is_kept():
    ours, old, leaked = connection(accepted_ns=1500), connection(connection_id=3), connection(connection_id=4)
    records = [old, edge_query(connection_id=4), leaked, ours]
    assert select_trial_records(records, since_ns=1000) == records[1:]


@pytest.mark.parametrize(("accepted_ns", "state"), [(1500, WARM), (2050, COLD)])
def test_the_warm_up_is_judged_by_its_own_look_up_and_not_by_our_clients(accepted_ns, state):
    ours = [edge_query(received_ns=1100, connection_id=7), connection(connection_id=7, accepted_ns=1050)]
    warmups = [edge_query(received_ns=2100), connection(accepted_ns=accepted_ns, handshake_mode=HandshakeMode.RESUMED)]
    row = loads(result(*ours, *warmups, warmup=WARMUP))[0]
    assert not row.measured
    assert (row.dns_connection_state, row.dns_handshake_mode) == (state, HandshakeMode.RESUMED)
    without = loads(result(*ours, warmup=WARMUP))[0]
    assert (without.dns_connection_state, without.dns_handshake_mode) == (None, None)


def test_what_happened_to_the_document_is_flagged():
    page = (request(received_ns=3300, http_version=HttpVersion.H2), PAGE[1])
    found = result(edge_query(received_ns=3100), connection(accepted_ns=3050), *page)
    assert found.flags == [TrialFlag.HTTP_VERSION_MISMATCH]


def test_a_load_that_lacks_a_part_of_its_page_failed_and_keeps_its_flag():
    whole = result(
        edge_query(received_ns=3100),
        connection(accepted_ns=3050),
        *PAGE,
        site=msgspec.structs.replace(SITE, request_count=1),
    )
    assert (whole.failed, whole.flags, loads(whole)[-1].failure) == (False, [], None)
    lacking = result(
        edge_query(received_ns=3100),
        connection(accepted_ns=3050),
        *PAGE,
        site=msgspec.structs.replace(SITE, request_count=2),
    )
    assert (lacking.failed, lacking.flags) == (True, [TrialFlag.RESOURCES_MISSING])
    load = loads(lacking)[-1]
    assert (load.failure, load.failure_detail) == ("incomplete", "1 of the page's 2 requests were answered")


def test_the_last_byte_is_that_of_the_last_response_before_the_load_event():
    def ended(response_end_ms):
        return ResourceRecord(url="x", initiator_type="img", start_ms=0.0, response_end_ms=response_end_ms)

    resources = [ended(3.0), ended(9.0), ended(None), ended(11.0)]
    load = msgspec.structs.replace(MEASURED, timings=PageTimings(plt_ms=10.0), resources=resources)
    assert last_byte_ms(load) == 9.0
    assert last_byte_ms(MEASURED) is None
    assert last_byte_ms(msgspec.structs.replace(load, resources=[])) is None


@pytest.mark.parametrize(("status", "plt_sum_ms"), [(200, 750.0), (304, 750.0), (302, None), (307, None)])
def test_a_redirected_document_has_no_sum_because_its_look_up_is_not_told(status, plt_sum_ms):
    timings = PageTimings(plt_ms=800.0, fetch_start_ms=2.0, domain_lookup_start_ms=10.0, domain_lookup_end_ms=110.0)
    measured = msgspec.structs.replace(MEASURED, timings=timings)
    exchange = msgspec.structs.replace(
        recorded()[0], purpose=QueryPurpose.MEASURED, dns_transport=CONDITION.dns_transport,
        failure=None, query_response_time_ns=50_000_000,
    )  # fmt: skip
    document = msgspec.structs.replace(PAGE[0], status=status)
    found = result(edge_query(received_ns=3100), document, measured=measured, exchanges=[exchange])
    assert loads(found)[-1].plt_sum_ms == plt_sum_ms


@pytest.mark.parametrize("flag", [TrialFlag.EDGE_ENDED, TrialFlag.STUB_ENDED, TrialFlag.GATEWAY_ENDED])
def test_a_load_that_a_part_of_the_lab_failed_says_nothing_of_the_network(flag):
    failed = msgspec.structs.replace(MEASURED, failure=PageFailure.CONNECT, failure_detail="refused")
    (load,) = loads(result(measured=failed, own_flags=[flag]))
    assert (load.failure, load.failure_detail) == (PageFailure.LAB_ENDED, "connect: refused")
    assert PLT.contribution_of_records([load]) is None
    (load,) = loads(result(measured=failed, own_flags=[TrialFlag.CONNECTIONS_LEFT_OPEN]))
    assert load.failure is PageFailure.CONNECT
    # A browser that crashed beside it crashed; a load that ended well ended well.
    crashed = msgspec.structs.replace(MEASURED, failure=PageFailure.BROWSER_CRASH)
    assert loads(result(measured=crashed, own_flags=[flag]))[0].failure is PageFailure.BROWSER_CRASH
    assert loads(result(*PAGE, own_flags=[flag]))[0].failure is None
