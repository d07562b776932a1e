"""Which connection a look-up came on, why it failed, and what was asked beside it, by the edge's and stub's records."""

import msgspec
import pytest
from made_loads import HOST, connection, edge_query
from recorded_queries import recorded

from resolab.basics.records import (
    ConnectionState,
    DnsFailure,
    DnsTransport,
    Failure,
    FailureMode,
    HandshakeMode,
    QueryPurpose,
)
from resolab.trials.page_load.lookup import (
    LoadSpan,
    PageLookup,
    dns_failure,
    foreign_names,
    page_lookup,
    stub_dns_failure,
    stub_lookup,
)

LOAD = LoadSpan(500)


def seen(*records):
    found = page_lookup(records, HOST, LOAD)
    return found.connection_state, found.handshake_mode


@pytest.mark.parametrize(
    ("early", "of_connection", "mode"),
    [
        (False, HandshakeMode.FULL, HandshakeMode.FULL),
        (False, HandshakeMode.RESUMED, HandshakeMode.RESUMED),
        (True, HandshakeMode.ZERO_RTT, HandshakeMode.ZERO_RTT),
        (False, HandshakeMode.ZERO_RTT, HandshakeMode.RESUMED),
    ],
)
def test_a_cold_look_ups_handshake_is_its_connections_and_zero_rtt_only_if_it_was_early_itself(
    early, of_connection, mode
):
    records = [edge_query(in_early_data=early), connection(handshake_mode=of_connection)]
    assert seen(*records) == (ConnectionState.COLD, mode)


def test_a_connection_from_before_the_load_is_warm():
    assert seen(edge_query(), connection(accepted_ns=10)) == (ConnectionState.WARM, HandshakeMode.FULL)


def test_a_connection_the_edge_wrote_nothing_of_is_taken_for_one_from_before_the_load():
    assert seen(edge_query()) == (ConnectionState.WARM, None)
    assert seen(edge_query(in_early_data=True)) == (ConnectionState.WARM, HandshakeMode.ZERO_RTT)


def test_dotcp_has_a_connection_and_no_handshake_and_doudp_neither():
    tcp = edge_query(dns_transport=DnsTransport.DOTCP)
    assert seen(tcp, connection(handshake_mode=None)) == (ConnectionState.COLD, None)
    assert seen(edge_query(dns_transport=DnsTransport.DOUDP, connection_id=None)) == (None, None)


def test_the_first_query_of_the_load_counts():
    later, before = edge_query(received_ns=2000, connection_id=3), edge_query(received_ns=10, connection_id=1)
    assert page_lookup([later, before, edge_query()], HOST, LOAD).query == edge_query()
    assert page_lookup([before], HOST, LOAD).query is None


def test_foreign_names_are_those_asked_in_the_load_that_the_page_does_not_need():
    records = [edge_query(), edge_query(qname="Google.com."), edge_query(qname="google.com."),
               edge_query(qname="cdn.resolab.test."), edge_query(qname="early.test.", received_ns=1)]  # fmt: skip
    assert foreign_names(records, [HOST, "cdn.resolab.test"], LOAD) == ["google.com"]


def forwarded(failure=None, **changes):
    common = {"purpose": QueryPurpose.FORWARDED, "qname": HOST + ".", "time_origin_ns": 1000, "failure": failure}
    return msgspec.structs.replace(recorded()[0], **(common | changes))


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([edge_query(rcode="NXDOMAIN")], DnsFailure.NXDOMAIN),
        ([edge_query(rcode="SERVFAIL")], DnsFailure.SERVFAIL),
        ([edge_query(rcode="REFUSED")], DnsFailure.REFUSED),
        # The HTTPS record's answer says nothing about the address.
        ([edge_query(rcode="SERVFAIL"), edge_query(qtype="HTTPS", received_ns=1200)], DnsFailure.SERVFAIL),
        ([edge_query(rcode="SERVFAIL"), edge_query(rcode="NXDOMAIN", received_ns=1200)], DnsFailure.NXDOMAIN),
        ([edge_query(rcode=None, answered_ns=None, failure_mode=FailureMode.DROP)], DnsFailure.TIMEOUT),
        ([forwarded(Failure.QUERY_TIMEOUT)], DnsFailure.TIMEOUT),
        ([forwarded(Failure.QUIC_HANDSHAKE_TIMEOUT)], DnsFailure.TIMEOUT),
        ([forwarded(Failure.TCP_CONNECT_REFUSED)], DnsFailure.TRANSPORT),
        ([edge_query(received_ns=10, rcode="NXDOMAIN")], DnsFailure.TRANSPORT),
        ([], DnsFailure.TRANSPORT),
    ],
)
def test_a_failed_look_up_has_its_reason_from_the_edge_else_from_the_stub(records, why):
    assert dns_failure(records, HOST, LOAD) is why


WAITED = Failure.QUERY_TIMEOUT


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([forwarded(rcode="SERVFAIL")], DnsFailure.SERVFAIL),
        # Neither the answer for the HTTPS record nor an empty answer for AAAA says anything about the address.
        ([forwarded(rcode="SERVFAIL"), forwarded(qtype="HTTPS", time_origin_ns=1200)], DnsFailure.SERVFAIL),
        ([forwarded(rcode="SERVFAIL"), forwarded(qtype="AAAA", time_origin_ns=1200)], DnsFailure.SERVFAIL),
        ([forwarded(rcode="NXDOMAIN", time_origin_ns=1200), forwarded(rcode="SERVFAIL")], DnsFailure.NXDOMAIN),
        ([forwarded(WAITED, rcode=None), forwarded(qtype="HTTPS", time_origin_ns=1200)], DnsFailure.TIMEOUT),
        ([forwarded(Failure.TCP_CONNECT_REFUSED, rcode=None)], DnsFailure.TRANSPORT),
        ([forwarded(WAITED, qtype="HTTPS", rcode=None)], DnsFailure.TIMEOUT),
        # The edge's record is of the software's own query.
        ([edge_query(rcode="SERVFAIL")], None),
        ([forwarded(rcode="SERVFAIL", time_origin_ns=10)], None),
        ([forwarded(rcode="SERVFAIL", qname="other.test.")], None),
        ([], None),
    ],
)
def test_behind_other_software_a_failed_look_up_has_its_reason_from_the_stub_alone(records, why):
    assert stub_dns_failure(records, HOST, LOAD) is why


def test_behind_other_software_the_stub_s_first_query_shows_the_look_up():
    first = forwarded(connection=ConnectionState.COLD, handshake_mode=HandshakeMode.ZERO_RTT)
    later = forwarded(time_origin_ns=1200, connection=ConnectionState.WARM, handshake_mode=HandshakeMode.FULL)
    before = forwarded(time_origin_ns=10, connection=ConnectionState.WARM, handshake_mode=None)
    found = stub_lookup([later, before, first, edge_query()], HOST, LOAD)
    assert found == PageLookup(None, ConnectionState.COLD, HandshakeMode.ZERO_RTT)
    assert stub_lookup([before, edge_query()], HOST, LOAD) == PageLookup(None, None, None)
