"""Records, conditions and sites the tests of this room share."""

from pathlib import Path

import msgspec

from resolab.basics.records import (
    ConnectionRecord,
    DnsTransport,
    EdgeQueryRecord,
    EdgeRequestRecord,
    HandshakeMode,
    HttpVersion,
    ResolverPath,
)
from resolab.lab.layout import PageOrigin, PageSite
from resolab.plan import Condition

HOST = "example.resolab.test"
CONDITION = Condition(
    page="example",
    profile="4g",
    dns_transport=DnsTransport.DOH,
    http_version=HttpVersion.H3,
    requested_handshake_mode=HandshakeMode.FULL,
    resolver_path=ResolverPath.NATIVE,
)
ORIGIN = PageOrigin(host=HOST, address="10.77.1.1", folder=Path("/"))
OTHER = PageOrigin(host="n01." + HOST, address="10.77.1.2", folder=Path("/n01"))
SITE = PageSite(page="example", origins=(ORIGIN,), path="/")


def request(**changes):
    base = EdgeRequestRecord(
        authority=HOST, body_bytes=1256, connection_id=1, http_version=HttpVersion.H3, in_early_data=False,
        method="GET", path="/", peer_address="10.77.0.2:5000", received_ns=1000, status=200, session_resumed=False,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def edge_query(**changes):
    base = EdgeQueryRecord(
        dns_transport=DnsTransport.DOH, peer_address="10.77.0.2:5001", qname=HOST + ".", qtype="A",
        query_bytes=40, received_ns=1000, answered_ns=1001, rcode="NOERROR", connection_id=2, in_early_data=False,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def connection(**changes):
    base = ConnectionRecord(
        connection_id=2, protocol="tcp", local_address="10.77.0.1:443", peer_address="10.77.0.2:5001",
        accepted_ns=900, handshake_mode=HandshakeMode.FULL,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)
