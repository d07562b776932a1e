"""What `resolab query` says of a handshake is what happened, and no more than the path's length lets it tell."""

import msgspec
import pytest

from resolab.basics.records import Bootstrap, ConnectionState, DnsTransport, HandshakeMode, QueryPurpose, QueryRecord
from resolab.cli.query.words import handshake

RECORD = QueryRecord(
    dns_transport=DnsTransport.DOQ, resolver="quic://r", bootstrap=Bootstrap.GIVEN, qname="a.", qtype="A",
    purpose=QueryPurpose.MEASURED, sequence=0, time_origin_ns=0, connection=ConnectionState.COLD, query_bytes=1,
    attempt_count=1, addresses=[], requested_handshake_mode=HandshakeMode.ZERO_RTT,
    handshake_mode=HandshakeMode.ZERO_RTT, early_data_accepted=True, connection_min_rtt_ns=20_000_000,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answered_early": True}, "zero_rtt"),
        ({"answered_early": False}, "zero_rtt (held)"),
        # On loopback the answer comes half a round trip after the handshake because both sides compute.
        ({"answered_early": False, "connection_min_rtt_ns": 150_000}, "zero_rtt"),
        ({"answered_early": False, "connection_min_rtt_ns": None}, "zero_rtt"),
        ({"handshake_mode": HandshakeMode.FULL, "early_data_accepted": None}, "full (not zero_rtt)"),
        ({"connection": ConnectionState.WARM}, "zero_rtt (warm)"),
        ({"handshake_mode": None}, ""),
    ],
)
def test_it_says_what_happened(changes: dict[str, object], said: str) -> None:
    assert handshake(msgspec.structs.replace(RECORD, **changes)) == said
