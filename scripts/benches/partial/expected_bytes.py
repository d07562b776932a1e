"""The expected bytes of an exchange by the protocols: messages with their frames, and the handshake.

For: closed forms by layer. Not for: counting (`layers`), or bytes not fixed by a protocol: acknowledgements, padding of
QUIC, connection IDs, a server's tickets and transport parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benches.partial.testbed import NamesExchange
from resolab.basics.records import DnsTransport, QueryRecord

LENGTH_BYTES = 2
"""The length field before a message: RFC 1035 section 4.2.2, RFC 9250 section 4.2."""

FINISHED_BYTES, END_OF_EARLY_DATA_BYTES = 4 + 32, 4
"""The sizes of TLS messages with SHA-256; the second over TCP only (RFC 8446 section 4.5, RFC 9001 section 8.3)."""
SIGNATURE_BYTES, SHORTER_BYTES = 72, 4
"""The length of an ECDSA signature with P-256 in DER, and its possible shortening, but for one in 30,000."""

H2_FRAME, H2_PREFACE, H2_SETTINGS, H2_GOAWAY = 9, 24, 9 + 2 * 6, 9 + 8
"""The bytes of HTTP/2 (RFC 9113): a frame's header, the preface, SETTINGS of two, GOAWAY."""
H3_UP, H3_DOWN = 26 + 1 + 1, 22 + 1 + 1
"""The bytes of HTTP/3: the control stream with SETTINGS, QPACK's encoder and decoder streams (RFC 9114 section 6.2)."""


@dataclass(frozen=True)
class Heads:
    """The bytes of encoded heads, of the first and of each later head: the choice of fields by our client and edge."""

    up: tuple[int, int]
    down: tuple[int, int]


ONE_BY_ONE = {DnsTransport.DOH: Heads((66, 20), (35, 9)), DnsTransport.DOH3: Heads((33, 33), (20, 20))}
IN_MESSAGE = {DnsTransport.DOH: Heads((94, 20), (36, 9)), DnsTransport.DOH3: Heads((79, 79), (32, 32))}
"""The heads with the media type of partial responses."""


@dataclass(frozen=True)
class ExpectedBytes:
    """The bytes by layer, down and up; `None` without a rule of the protocols."""

    application: tuple[int, int]
    more_application: int
    """The bytes added by some closing servers: over HTTP/2 the GOAWAY."""
    handshake: tuple[int | None, int | None]
    shorter_handshake: int
    """The possible shortening of a server's handshake by a short signature."""


def expect(exchange: NamesExchange, handshake: str) -> ExpectedBytes:
    """Return the expected bytes of an exchange."""
    first = exchange.records[0]
    return ExpectedBytes(
        (_application(exchange.records, up=False), _application(exchange.records, up=True)),
        H2_GOAWAY if first.dns_transport is DnsTransport.DOH else 0,
        (_server_handshake(first, handshake), _client_handshake(first, handshake)),
        SHORTER_BYTES,
    )


def messages(records: Sequence[QueryRecord]) -> tuple[list[int], list[int]]:
    """Return the bytes of each response and query message."""
    alone = [one for one in records if one.asked_alone]
    shared = [one for one in records if not one.asked_alone]
    queries = [one.query_bytes for one in alone] + [one.query_bytes for one in shared[:1]]
    responses = {one.partial_response_index: one.response_bytes or 0 for one in shared}
    return [one.response_bytes or 0 for one in alone] + list(responses.values()), queries


def _application(records: Sequence[QueryRecord], *, up: bool) -> int:
    transport = records[0].dns_transport
    sizes = messages(records)[up]
    if transport is DnsTransport.DOUDP:
        return sum(sizes)
    if transport not in ONE_BY_ONE:
        return sum(sizes) + LENGTH_BYTES * len(sizes)
    is_alone = bool(records[0].asked_alone)
    heads = (ONE_BY_ONE if is_alone else IN_MESSAGE)[transport]
    # In a body of several messages each is behind its length, and they come in a DATA frame each.
    framed = [size if is_alone or up else size + LENGTH_BYTES for size in sizes]
    heads_count = len(sizes) if is_alone else 1
    first, later = heads.up if up else heads.down
    encoded = first + later * (heads_count - 1)
    if transport is DnsTransport.DOH:
        frames = H2_FRAME * (heads_count + len(framed))
        settings = H2_SETTINGS + H2_FRAME
        return settings + (H2_PREFACE + H2_GOAWAY if up else 0) + encoded + frames + sum(framed)
    head_headers = sum(1 + _varint_bytes(one) for one in [first, *[later] * (heads_count - 1)])
    data_headers = sum(1 + _varint_bytes(one) for one in framed)
    return (H3_UP if up else H3_DOWN) + encoded + head_headers + data_headers + sum(framed)


def _varint_bytes(value: int) -> int:
    """Return the bytes of a QUIC integer (RFC 9000 section 16)."""
    return 1 if value < 1 << 6 else 2 if value < 1 << 14 else 4


def _client_handshake(first: QueryRecord, handshake: str) -> int | None:
    if first.client_hello_bytes is None:
        return None
    is_quic = first.dns_transport in {DnsTransport.DOQ, DnsTransport.DOH3}
    end_of_early_data = END_OF_EARLY_DATA_BYTES if handshake == "zero_rtt" and not is_quic else 0
    return first.client_hello_bytes + FINISHED_BYTES + end_of_early_data


def _server_handshake(first: QueryRecord, handshake: str) -> int | None:
    """Return the handshake bytes of a server without tickets, over TCP: QUIC includes transport parameters."""
    is_tls = first.dns_transport in {DnsTransport.DOT, DnsTransport.DOH}
    if handshake != "full" or not is_tls or first.certificate_bytes is None or first.server_hello_bytes is None:
        return None
    # Type and length; application protocol, and that the name was recognized (RFC 7301, RFC 6066).
    extensions = 4 + 2 + (4 + 2 + 1 + len(first.alpn or "")) + 4
    certificate = 4 + 1 + 3 + (3 + first.certificate_bytes + 2)
    verify = 4 + 2 + 2 + SIGNATURE_BYTES
    return first.server_hello_bytes + extensions + certificate + verify + FINISHED_BYTES
