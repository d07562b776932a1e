"""What the protocols say of the bytes of an exchange: of its messages with their frames, and of its handshake.

For: closed forms by layer. Not for: counting (`layers`), or what no protocol fixes: acknowledgements, padding of QUIC,
connection IDs, a server's tickets and transport parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benches.partial.asked import Exchange
from resolab.records import DnsTransport, QueryRecord

LENGTH_BYTES = 2
"""In front of a message: RFC 1035 section 4.2.2, RFC 9250 section 4.2."""

FINISHED_BYTES, END_OF_EARLY_DATA_BYTES = 4 + 32, 4
"""Of TLS with SHA-256; the second over TCP only (RFC 8446 section 4.5, RFC 9001 section 8.3)."""
SIGNATURE_BYTES, SHORTER_BYTES = 72, 4
"""Of ECDSA with P-256 in DER, and how much shorter one is by chance, but for one in 30,000."""

H2_FRAME, H2_PREFACE, H2_SETTINGS, H2_GOAWAY = 9, 24, 9 + 2 * 6, 9 + 8
"""Bytes of HTTP/2 (RFC 9113): a frame's header, the preface, SETTINGS of two, GOAWAY."""
H3_UP, H3_DOWN = 26 + 1 + 1, 22 + 1 + 1
"""Of HTTP/3: the control stream with SETTINGS, streams of QPACK's encoder and decoder (RFC 9114 section 6.2)."""


@dataclass(frozen=True)
class Heads:
    """Bytes of encoded heads, of the first and of each one after it: our client's and edge's own choice of fields."""

    up: tuple[int, int]
    down: tuple[int, int]


ONE_BY_ONE = {DnsTransport.DOH: Heads((66, 20), (35, 9)), DnsTransport.DOH3: Heads((33, 33), (20, 20))}
IN_MESSAGE = {DnsTransport.DOH: Heads((94, 20), (36, 9)), DnsTransport.DOH3: Heads((79, 79), (32, 32))}
"""With the media type of partial responses."""


@dataclass(frozen=True)
class Expected:
    """Bytes by layer, down and up; `None` where the protocols do not say."""

    application: tuple[int, int]
    more_application: int
    """A closing server may add that much, or not: over HTTP/2 its GOAWAY."""
    handshake: tuple[int | None, int | None]
    shorter_handshake: int
    """What a server's handshake may be shorter by: its signature is."""


def of(exchange: Exchange, handshake: str) -> Expected:
    """Say what an exchange's bytes are."""
    first = exchange.records[0]
    return Expected(
        (_application(exchange.records, up=False), _application(exchange.records, up=True)),
        H2_GOAWAY if first.dns_transport is DnsTransport.DOH else 0,
        (_server_handshake(first, handshake), _client_handshake(first, handshake)),
        SHORTER_BYTES,
    )


def messages(records: Sequence[QueryRecord]) -> tuple[list[int], list[int]]:
    """Bytes of each response and query message."""
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
    """Bytes of a QUIC integer (RFC 9000 section 16)."""
    return 1 if value < 1 << 6 else 2 if value < 1 << 14 else 4


def _client_handshake(first: QueryRecord, handshake: str) -> int | None:
    if first.client_hello_bytes is None:
        return None
    is_quic = first.dns_transport in {DnsTransport.DOQ, DnsTransport.DOH3}
    end_of_early_data = END_OF_EARLY_DATA_BYTES if handshake == "zero_rtt" and not is_quic else 0
    return first.client_hello_bytes + FINISHED_BYTES + end_of_early_data


def _server_handshake(first: QueryRecord, handshake: str) -> int | None:
    """Of a server without tickets, over TCP: over QUIC its transport parameters are in it."""
    is_tls = first.dns_transport in {DnsTransport.DOT, DnsTransport.DOH}
    if handshake != "full" or not is_tls or first.certificate_bytes is None or first.server_hello_bytes is None:
        return None
    # Type and length; application protocol, and that the name was recognized (RFC 7301, RFC 6066).
    extensions = 4 + 2 + (4 + 2 + 1 + len(first.alpn or "")) + 4
    certificate = 4 + 1 + 3 + (3 + first.certificate_bytes + 2)
    verify = 4 + 2 + 2 + SIGNATURE_BYTES
    return first.server_hello_bytes + extensions + certificate + verify + FINISHED_BYTES
