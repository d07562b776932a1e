"""Handshakes, states and flags follow what the edge and the path recorded."""

from dataclasses import replace

import msgspec
import pytest
from made_loads import CONDITION, HOST, ORIGIN, OTHER, SITE, connection, edge_query, request

from resolab.basics.records import (
    Bootstrap,
    BrowserPreset,
    ConnectionSharing,
    ConnectionState,
    DirectionSummary,
    DiscardedBecause,
    DnsFailure,
    DnsTransport,
    Failure,
    GatewaySpeculationRecord,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    PathSummaryRecord,
    QueryGathering,
    QueryPurpose,
    QueryRecord,
    ResolverPath,
    ResourceRecord,
    Speculation,
    TrialFlag,
)
from resolab.browser import PageLoad
from resolab.plan.pages.serving import Serving
from resolab.trials.page_load import judgement
from resolab.trials.page_load.lookup import LoadSpan
from resolab.trials.trial_result import path_flags

LOAD = LoadSpan(500)
CLEAN = [edge_query(), connection(), request(received_ns=1500), connection(connection_id=1, protocol="quic")]
COLD, WARM = ConnectionState.COLD, ConnectionState.WARM
LOADED = PageLoad(url=SITE.url, measured=True, limit_ms=1000.0)


def judged(records, load=LOADED, condition=CONDITION, site=SITE):
    return judgement.judge(load, records, site, LOAD, judgement.states_made(condition))


def flags(records, condition=CONDITION, *, site=SITE, failed=False):
    return judgement.lookup_flags(records, condition, site, LOAD, judged(records, site=site), failed=failed)


def summary(p99_ns, *, drops=0):
    direction = DirectionSummary(
        bytes_in_bytes=1, bytes_out_bytes=1, dropped_device_count=drops, dropped_loss_count=0, dropped_queue_count=0,
        lateness_p99_ns=p99_ns, packets_in_count=1, packets_out_count=1,
    )  # fmt: skip
    return PathSummaryRecord(
        down=direction, up=direction, profile="4g", unrecognised_packets_count=0, window_start_ns=0, window_end_ns=1
    )


@pytest.mark.parametrize(
    ("early", "resumed", "mode"),
    [(True, True, HandshakeMode.ZERO_RTT), (False, True, HandshakeMode.RESUMED), (False, False, HandshakeMode.FULL)],
)
def test_the_mode_is_what_the_edge_saw(early, resumed, mode):
    assert judgement.handshake_that_happened(request(in_early_data=early, session_resumed=resumed)) is mode


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        ({"closed_by_client": True, "close_code": 0x12E}, PageFailure.TLS),
        ({"closed_by_client": True, "close_code": 0x10C}, PageFailure.TLS),
        ({"closed_by_client": True, "close_code": 0x0A}, PageFailure.CONNECT),
        ({"closed_by_client": False, "close_code": 0x12E}, PageFailure.CONNECT),
        ({"closed_by_client": True, "close_code": 0x12E, "handshake_complete_ns": 950}, PageFailure.CONNECT),
        ({"closed_by_client": True, "close_code": 0x12E, "server_name": "other.resolab.test"}, PageFailure.CONNECT),
        ({"closed_by_client": True, "close_code": 0x12E, "accepted_ns": 100}, PageFailure.CONNECT),
    ],
)
def test_a_connection_the_browser_ended_by_a_tls_alert_failed_in_tls(changes, failure):
    refused = connection(protocol="quic", handshake_mode=None, **({"server_name": HOST} | changes))
    load = msgspec.structs.replace(LOADED, failure=PageFailure.CONNECT)
    assert judged([refused], load).failure is failure
    assert judged([refused], LOADED).failure is None


def test_without_a_request_nothing_happened():
    assert judgement.handshake_that_happened(None) is None


def test_the_warm_up_document_is_not_taken_for_the_measured_one():
    warm, measured, image = (
        request(received_ns=10),
        request(received_ns=2000),
        request(received_ns=1500, path="/logo.png"),
    )
    assert judgement.document_request([warm, image, measured], HOST, "/", LoadSpan(1000)) is measured


@pytest.mark.parametrize(
    ("changes", "second", "wanted"),
    [
        ({"speculation": "used"}, False, HandshakeMode.ZERO_RTT),
        ({"discarded_because": DiscardedBecause.OTHER_REQUEST}, True, HandshakeMode.RESUMED),
        ({"discarded_because": DiscardedBecause.NOT_SHARED}, True, HandshakeMode.RESUMED),
        # It never reached the server: what did is the browser's.
        ({"discarded_because": DiscardedBecause.OTHER_REQUEST}, False, HandshakeMode.ZERO_RTT),
        ({"discarded_because": DiscardedBecause.UNCLAIMED}, False, None),
        ({"discarded_because": DiscardedBecause.OTHER_REQUEST, "path": "/other"}, True, HandshakeMode.ZERO_RTT),
        ({"discarded_because": DiscardedBecause.OTHER_REQUEST, "query_ns": 10}, True, HandshakeMode.ZERO_RTT),
        ({"discarded_because": DiscardedBecause.OTHER_REQUEST, "sent_ns": None}, True, HandshakeMode.ZERO_RTT),
    ],
)
def test_a_document_that_was_asked_for_early_and_thrown_away_is_not_the_loads(changes, second, wanted):
    speculation = GatewaySpeculationRecord(
        load=2, host=HOST, path="/", speculation=Speculation.DISCARDED, query_ns=1100, sent_ns=1101
    )
    sent = request(received_ns=1500, in_early_data=True, session_resumed=True)
    own = [request(received_ns=1700, session_resumed=True)] if second else []
    assert judged([msgspec.structs.replace(speculation, **changes), sent, *own]).handshake_mode is wanted


def test_a_clean_lookup_has_no_flags():
    assert flags(CLEAN) == []


@pytest.mark.parametrize(
    ("records", "flag"),
    [
        ([edge_query(received_ns=10)], "no_lookup_in_load"),
        ([edge_query(dns_transport=DnsTransport.DOUDP)], "dns_transport_mismatch"),
        ([edge_query(), edge_query(qname="google.com.")], "foreign_name"),
        ([edge_query(), connection(accepted_ns=10)], "dns_connection_mismatch"),
        ([edge_query(), connection(handshake_mode=HandshakeMode.RESUMED)], "dns_handshake_mismatch"),
    ],
)
def test_a_lookup_that_is_not_the_one_asked_for_is_flagged(records, flag):
    assert flag in flags(records)


def test_a_warm_and_a_zero_rtt_lookup_are_what_was_asked_for():
    warm = replace(CONDITION, dns_connection_state=WARM)
    assert flags([edge_query(), connection(accepted_ns=10)], warm) == []
    assert flags(CLEAN, warm) == ["dns_connection_mismatch"]
    early = replace(CONDITION, requested_dns_handshake_mode=HandshakeMode.ZERO_RTT)
    records = [edge_query(in_early_data=True), connection(handshake_mode=HandshakeMode.ZERO_RTT)]
    assert flags(records, early) == []
    assert flags(CLEAN, early) == ["dns_handshake_mismatch"]


def test_a_host_that_the_page_asks_for_and_nobody_has_is_foreign():
    """Its look-up is answered by NXDOMAIN, and each transport pays for it by its own round trips."""
    records = [*CLEAN, edge_query(qname="cdn.test."), edge_query(qname="google.com.")]
    other = ResourceRecord(url="https://cdn.test/a.js", initiator_type="script", start_ms=1.0)
    load = PageLoad(url=SITE.url, measured=True, limit_ms=1.0, resources=[other])
    assert judged(records, load).foreign_names == ["cdn.test", "google.com"]
    found = judgement.lookup_flags(records, CONDITION, SITE, LoadSpan(1000), judged(records, load))
    assert TrialFlag.FOREIGN_NAME in found


def test_names_of_the_page_s_own_hosts_are_not_foreign():
    site = msgspec.structs.replace(SITE, origins=(ORIGIN, msgspec.structs.replace(ORIGIN, host="cdn.test")))
    assert judged([*CLEAN, edge_query(qname="CDN.test.")], site=site).foreign_names == []


@pytest.mark.parametrize(("failure", "why"), [(PageFailure.DNS, DnsFailure.SERVFAIL), (PageFailure.CONNECT, None)])
def test_only_a_load_that_failed_by_its_name_has_a_reason_for_that(failure, why):
    load = PageLoad(url=SITE.url, measured=True, limit_ms=1.0, failure=failure)
    assert judged([edge_query(rcode="SERVFAIL")], load).dns_failure is why


def test_states_are_seen_where_they_can_be():
    states = judged(CLEAN).states
    assert (states.dns_cache, states.http_cache, states.sockets, states.tickets) == (COLD, COLD, COLD, COLD)
    # Made cold, and yet nothing was asked, the connection was there, the document was cached and a ticket was used.
    kept = [request(status=304, received_ns=1500, session_resumed=True), connection(connection_id=1, accepted_ns=10)]
    states = judged(kept).states
    assert (states.dns_cache, states.http_cache, states.sockets, states.tickets) == (WARM, WARM, WARM, WARM)


def test_of_a_load_that_never_arrived_what_was_made_stands():
    resumed = replace(CONDITION, requested_handshake_mode=HandshakeMode.RESUMED)
    states = judged([], condition=resumed).states
    assert (states.dns_cache, states.http_cache, states.sockets, states.tickets) == (COLD, COLD, COLD, WARM)


def test_another_http_version_is_flagged():
    over_h2 = request(http_version=HttpVersion.H2)
    assert judgement.http_flags(over_h2, HttpVersion.H3, SITE) == ["http_version_mismatch"]
    assert judgement.http_flags(over_h2, HttpVersion.H2, SITE) == []


@pytest.mark.parametrize(
    ("protocols", "asked", "flagged"),
    [(["h1", "h2"], "h3", False), (["h1"], "h3", True), (["h1", "h2"], "h2", False), (["h1", "h2"], "h1", True)],
)
def test_a_page_without_the_version_asked_for_is_to_come_over_the_newest_it_has_below(protocols, asked, flagged):
    first, *others = SITE.origins
    first = msgspec.structs.replace(first, serving=Serving(settings={"protocols": protocols}))
    site = msgspec.structs.replace(SITE, origins=(first, *others))
    found = judgement.http_flags(request(http_version=HttpVersion.H2), HttpVersion(asked), site)
    assert bool(found) is flagged


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        (summary(400_000), []),
        (summary(None), []),
        (summary(600_000), ["lateness_exceeded"]),
        (summary(1, drops=2), ["device_drops"]),
        (None, ["path_summary_missing"]),
    ],
)
def test_a_late_or_leaking_path_is_flagged(given, flags):
    assert path_flags(given, lateness_p99_ms=0.5) == flags


MANY = msgspec.structs.replace(SITE, origins=(ORIGIN, OTHER), request_count=2)
OTHER_LOOKUP = edge_query(qname="n01." + HOST + ".", connection_id=2, received_ns=LOAD.since_ns + 20)


def test_every_name_of_a_page_is_needed_and_must_be_asked_for_in_a_good_load():
    records = [edge_query(received_ns=LOAD.since_ns + 10), connection(accepted_ns=LOAD.since_ns + 1)]
    assert flags(records, site=MANY) == ["no_lookup_in_load"]
    assert flags(records, site=MANY, failed=True) == []
    assert flags([*records, OTHER_LOOKUP], site=MANY) == []
    over_tcp = msgspec.structs.replace(OTHER_LOOKUP, dns_transport=DnsTransport.DOT)
    assert flags([*records, over_tcp], site=MANY) == ["dns_transport_mismatch"]


def test_a_browser_that_is_told_the_addresses_must_not_ask():
    told = replace(CONDITION, browser_preset=BrowserPreset.S24)
    assert flags([], told) == []
    asked = edge_query(received_ns=LOAD.since_ns + 500)
    assert flags([asked, connection()], told) == ["lookup_in_load"]


def test_a_load_without_all_of_its_page_is_told_by_its_answered_requests():
    document = request(received_ns=LOAD.since_ns + 30)
    part = request(received_ns=LOAD.since_ns + 40, authority="n01." + HOST + ":443", path="/js00.js")

    def missing(*records):
        return judgement.count_answered_if_incomplete(records, MANY, LOAD)

    told = "1 of the page's 2 requests were answered"
    assert missing(document, part) is None
    assert missing(document, msgspec.structs.replace(part, status=304)) is None
    assert missing(document, document) == missing(document) == told
    assert missing(document, msgspec.structs.replace(part, status=404)) == told
    assert judgement.count_answered_if_incomplete([document], SITE, LOAD) is None


def served(*responses, not_awaited=()):
    """The page of two names whose document's name has answers of its own."""
    serving = Serving(settings={"response": list(responses)}, not_awaited=frozenset(not_awaited))
    return msgspec.structs.replace(MANY, origins=(msgspec.structs.replace(ORIGIN, serving=serving), OTHER))


def given(site, *asked):
    requests = [
        request(path=path, status=status, method=method, received_ns=LOAD.since_ns + 30)
        for path, status, method in asked
    ]
    return {path for _, path in judgement.list_answered_requests(requests, site)}


def test_what_a_page_answers_by_itself_counts_whatever_its_status_and_what_it_leaves_unanswered_does_not():
    site = served(
        {"path": "/", "status": 302, "location": "/1.html"},
        {"path": "/gone", "status": 404},
        {"path": "/beacon", "status": 204, "outcome": "answer"},
        {"path": "/reset", "outcome": "reset"},
        {"path": "/hang", "outcome": "hang"},
    )
    own = [("/", 302, "GET"), ("/gone", 404, "GET"), ("/beacon", 204, "POST")]
    assert given(site, *own, ("/reset", 200, "GET"), ("/hang", 200, "GET")) == {"/", "/gone", "/beacon"}
    # Without an answer of its own a status is what it is.
    assert given(SITE, *own) == set()
    assert given(site, ("/other", 404, "GET"), ("/beacon", 425, "POST"), ("/", 200, "GET")) == set()
    # As the edge finds it: by the path where the query is in no response.
    assert given(site, ("/gone?x=1", 404, "GET"), ("/g%6fne", 404, "GET")) == {"/gone?x=1", "/g%6fne"}


def test_preflights_and_what_is_asked_after_the_load_event_do_not_make_up_for_what_is_missing():
    site = served({"path": "/late", "status": 204}, not_awaited=("/late", "/17.png"))
    late = [("/late", 204, "POST"), ("/17.png", 200, "GET")]
    assert given(site, ("/", 200, "GET"), ("/", 204, "OPTIONS"), *late) == {"/"}
    assert given(site, ("/1.json", 204, "OPTIONS")) == set()


def test_a_name_that_is_only_asked_after_the_load_event_need_not_be_looked_up():
    records = [edge_query(received_ns=LOAD.since_ns + 10), connection(accepted_ns=LOAD.since_ns + 1)]
    later = msgspec.structs.replace(MANY, origins=(ORIGIN, msgspec.structs.replace(OTHER, needed=False)))
    assert flags(records, site=later) == []
    # Asked for all the same it is none of others.
    assert flags([*records, OTHER_LOOKUP], site=later) == []


def test_a_browser_whom_servers_tell_their_origins_needs_the_name_of_the_document_alone():
    records = [edge_query(connection_id=2), connection(connection_id=2)]
    told = replace(CONDITION, connection_sharing=ConnectionSharing.ORIGIN_FRAME)
    assert flags(records, told, site=MANY) == []
    assert flags([], told, site=MANY) == [TrialFlag.NO_LOOKUP_IN_LOAD]
    behind = replace(told, resolver_path=ResolverPath.GATEWAY)
    assert TrialFlag.NO_LOOKUP_IN_LOAD in flags(records, behind, site=MANY)


GATHERED = {"message_sequence": 0, "message_question_count": 2, "asked_alone": False}
REFUSED = {"message_sequence": 0, "message_question_count": 2, "asked_alone": True}
PASSED_BY = {"message_question_count": 1, "asked_alone": True}


def forwarded(**changes):
    base = QueryRecord(
        dns_transport=DnsTransport.DOUDP, resolver="udp://10.77.0.1", bootstrap=Bootstrap.GIVEN, qname=HOST + ".",
        qtype="A", purpose=QueryPurpose.FORWARDED, sequence=0, time_origin_ns=1000, query_bytes=40, attempt_count=1,
        addresses=[],
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


@pytest.mark.parametrize(
    ("asked", "is_flagged"),
    [
        ([GATHERED, GATHERED], False),
        ([GATHERED, PASSED_BY], False),
        # Two that were lost: their message was sent, and that nothing came of it is the path's doing.
        ([GATHERED | {"failure": Failure.QUERY_TIMEOUT}] * 2, False),
        ([REFUSED, REFUSED], True),
        ([REFUSED, REFUSED, PASSED_BY], True),
        ([PASSED_BY], True),
        ([{}], True),
        ([], False),
    ],
)
def test_a_load_that_gathered_nothing_is_flagged_where_it_was_to(asked, is_flagged):
    records = [forwarded(**facts) for facts in asked]
    gathering = replace(CONDITION, resolver_path=ResolverPath.STUB, query_gathering=QueryGathering.ON)
    expected = ["nothing_gathered"] if is_flagged else []
    assert judgement.flag_gathering(records, gathering, LOAD) == expected
    assert judgement.flag_gathering(records, CONDITION, LOAD) == []


def test_what_the_warmup_gathered_is_no_load_s():
    gathering = replace(CONDITION, resolver_path=ResolverPath.STUB, query_gathering=QueryGathering.ON)
    records = [forwarded(time_origin_ns=10, **GATHERED), forwarded(**PASSED_BY)]
    assert judgement.flag_gathering(records, gathering, LOAD) == ["nothing_gathered"]


MINE = replace(CONDITION, resolver_software="mine", resolver_path=ResolverPath.STUB)


def test_queries_of_other_software_at_the_edge_are_not_the_browsers():
    upstream = [edge_query(), connection()]
    others = [forwarded(), request(), connection(connection_id=1, local_address="10.77.1.1:443")]
    assert judgement.remove_upstream_queries([*upstream, *others], MINE) == others
    assert judgement.remove_upstream_queries([*upstream, *others], CONDITION) == [*upstream, *others]
    assert judgement.asks_edge(CONDITION)
    assert not judgement.asks_edge(MINE)


def test_behind_other_software_the_stub_judges_and_the_edge_does_not():
    records = [
        forwarded(rcode="SERVFAIL", connection=COLD, handshake_mode=HandshakeMode.RESUMED),
        edge_query(), connection(), request(), connection(connection_id=1),
    ]  # fmt: skip
    failed = PageLoad(url=SITE.url, measured=True, limit_ms=1.0, failure=PageFailure.DNS)
    found = judgement.judge(failed, records, SITE, LOAD, judgement.states_made(MINE), by_edge=False)
    assert (found.lookup.query, found.lookup.handshake_mode) == (None, HandshakeMode.RESUMED)
    assert found.dns_failure is DnsFailure.SERVFAIL
    # No record shows whether the browser's cache had the name: the stated state holds.
    assert found.states.dns_cache is COLD
    assert judgement.lookup_flags(records, MINE, SITE, LOAD, found) == ["dns_handshake_mismatch"]
