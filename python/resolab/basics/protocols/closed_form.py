"""The cost of the protocols themselves: T = k x RTT + bytes x 8 / rate + c.

For: the expected times, to compare measured times with. Not for: estimates from data (`stats`).
"""

from collections.abc import Mapping

from resolab.basics.protocols.dns_transports import find_facts
from resolab.basics.records import HttpVersion

PAGE_HANDSHAKES: Mapping[str, int] = {
    HttpVersion.H1: 2,  # SYN, then a TLS 1.3 handshake
    HttpVersion.H2: 2,  # the same
    HttpVersion.H3: 1,  # QUIC joins both
}
"""Round trips of a full handshake before a page's first request can leave, by HTTP version."""


def lookup_round_trips(dns_transport: str, handshake_mode: str, connection_state: str) -> int:
    """Count the round trips of a lookup: 1 over an open connection, otherwise those of a cold exchange."""
    return 1 if connection_state == "warm" else cold_exchange_round_trips(dns_transport, handshake_mode)


def cold_exchange_round_trips(dns_transport: str, handshake_mode: str = "full") -> int:
    """Count the round trips from the request for an answer to the answer, without an open connection."""
    facts = find_facts(dns_transport)
    # A resumed TLS 1.3 handshake still takes its round trip; only early data saves it (RFC 8446 section 2.3).
    saved = handshake_mode == "zero_rtt" and facts.has_handshake
    return facts.cold_round_trips - saved


def page_handshake_round_trips(http_version: str, handshake_mode: str) -> int:
    """Count the round trips before a page's first request can leave on a new connection."""
    return PAGE_HANDSHAKES[http_version] - (handshake_mode == "zero_rtt")


def express_in_round_trips(time_ns: float, rtt_ms: float) -> float:
    """Express a time in round trips of the access link."""
    return time_ns / 1e6 / rtt_ms


def remainder_ms(time_ms: float, rtt_ms: float, round_trips: int) -> float:
    """Return a time minus its round trips: the bytes on the wire over the rate, plus the instrument's cost c."""
    return time_ms - round_trips * rtt_ms


def wire_time_ms(wire_bytes: float, rate_bps: float) -> float:
    """Return the time bytes take to be put on a link."""
    return wire_bytes * 8 / rate_bps * 1e3
