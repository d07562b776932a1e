"""Handshakes and flags follow what the edge, the stub and the path recorded."""

import msgspec
import pytest

from resolab.records import (
    DirectionSummary,
    DnsTransport,
    EdgeQueryRecord,
    EdgeRequestRecord,
    HandshakeMode,
    HttpVersion,
    PathSummaryRecord,
    ResolverPath,
)
from resolab.testbed import judgement

HOST = "example.resolab.test"


def request(**changes):
    base = EdgeRequestRecord(
        authority=HOST, body_bytes=1256, connection_id=1, http_version=HttpVersion.H3, in_early_data=False,
        method="GET", path="/", peer_address="10.77.0.2:5000", received_ns=1000, status=200, session_resumed=False,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def edge_query(**changes):
    base = EdgeQueryRecord(
        dns_transport=DnsTransport.DOH, peer_address="10.77.0.2:5001", qname=HOST + ".", qtype="A",
        query_bytes=40, received_ns=1000,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


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


def test_without_a_request_nothing_happened():
    assert judgement.handshake_that_happened(None) is None


def test_the_warm_up_document_is_not_taken_for_the_measured_one():
    warm, measured, image = (
        request(received_ns=10),
        request(received_ns=2000),
        request(received_ns=1500, path="/logo.png"),
    )
    assert judgement.document_request([warm, image, measured], HOST, "/", since_ns=1000) is measured


def test_a_clean_lookup_has_no_flags():
    flags = judgement.lookup_flags([edge_query()], HOST, 500, DnsTransport.DOH, ResolverPath.NATIVE)
    assert flags == []


@pytest.mark.parametrize(
    ("records", "flag"),
    [
        ([edge_query(received_ns=10)], "no_lookup_in_load"),
        ([edge_query(dns_transport=DnsTransport.DOUDP)], "dns_transport_mismatch"),
        ([edge_query(), edge_query(qname="google.com.")], "foreign_name"),
    ],
)
def test_a_lookup_that_is_not_the_one_asked_for_is_flagged(records, flag):
    assert flag in judgement.lookup_flags(records, HOST, 500, DnsTransport.DOH, ResolverPath.NATIVE)


def test_another_http_version_is_flagged():
    assert judgement.http_flags(request(http_version=HttpVersion.H2), HttpVersion.H3) == ["http_version_mismatch"]


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
    assert judgement.path_flags(given, lateness_p99_ms=0.5) == flags
