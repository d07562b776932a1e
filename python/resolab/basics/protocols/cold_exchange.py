"""The closed form of a cold DNS exchange with bytes: round trips, and the packets of each flight over the link's rates.

For: the expected time of an exchange between hosts without computing time, for every transport and handshake. Not for:
the computing time of handshakes, which a measurement has as its remainder; page loads (`first_byte`); loss.

Three sources of bytes. Recorded sizes: query, response, ClientHello, ServerHello, certificates, QUIC datagrams
(docs/method/hellos.md). Standards: headers, framing and padding, with RFC and section below. Our programs: HTTP/2 and
HTTP/3 headers, QUIC frames beside the handshake and tickets, seen in captures (docs/method/accuracy.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from resolab.basics.protocols.closed_form import wire_time_ms
from resolab.basics.protocols.dns_transports import Carrier, find_facts
from resolab.basics.records import DirectionProfile, HttpVersion, LinkProfile

MTU_BYTES = 1500
INITIAL_WINDOW_PACKETS = 10
"""Packets of a flight before the first acknowledgement (RFC 6928 section 2, RFC 9002 section 7.2)."""
AMPLIFICATION_LIMIT = 3
"""Datagrams of a QUIC server for each datagram of a client with unknown address (RFC 9000 section 8.1)."""

_IP = 20  # RFC 791 section 3.1
_UDP = _IP + 8  # RFC 768
_TCP = _IP + 32  # RFC 9293 section 3.1, with timestamps (RFC 7323 section 3.2)
_SYN = _IP + 40  # with the options MSS, SACK, timestamps and window scale
_DNS_LENGTH = 2  # RFC 7766 section 8, RFC 9250 section 4.2
_RECORD = 5  # RFC 8446 section 5.1
_PROTECTED = _RECORD + 1 + 16  # with content type and tag (RFC 8446 section 5.2)
_CHANGE_CIPHER_SPEC = _RECORD + 1  # RFC 8446 appendix D.4
_FINISHED = 4 + 32  # RFC 8446 section 4.4.4, SHA-256
_CERTIFICATE_FRAMING = 4 + 1 + 3 + 3 + 2  # RFC 8446 section 4.4.2, one certificate
_CERTIFICATE_VERIFY = 4 + 2 + 2 + 71  # RFC 8446 section 4.4.3, an ECDSA signature of 70 to 72 bytes
_EXTENSIONS = 4 + 2 + 7  # EncryptedExtensions with an ALPN of no bytes (RFC 8446 section 4.3.1, RFC 7301 section 3.1)
_EMPTY_EXTENSION = 4  # `server_name` in full handshakes (RFC 6066 section 3), `early_data` (RFC 8446 section 4.2.10)
_PADDED = _UDP + 1200  # datagrams with ack-eliciting Initial packets, and all of a client's (RFC 9000 section 14.1)
_HTTP2_PREFACE = _PROTECTED + 24  # RFC 9113 section 3.4

# Of our programs.
_ALPN_BYTES = {None: 3, HttpVersion.H2: 2}
_TICKET_RECORD, _TICKET_FRAME = _PROTECTED + 162, 166
_QUIC_ACK = _UDP + 48  # a server's acknowledgement of an Initial packet, without padding
_QUIC_AFTER_FINISHED, _QUIC_FRAMES_ACK, _QUIC_CLIENT_FRAMES = _UDP + 123, _UDP + 33, _UDP + 143


class _TlsWrites(NamedTuple):
    """Bytes of records: those beside the DNS messages, and the overhead of the records with the messages."""

    before_query: tuple[int, ...]
    query: int
    at_finished: tuple[int, ...]
    """Sent by the server as soon as the handshake allows."""
    before_response: tuple[int, ...]
    response: int


_TLS_WRITES = {
    None: _TlsWrites((), _PROTECTED + _DNS_LENGTH, (), (), _PROTECTED + _DNS_LENGTH),
    # The preface, settings and request; the server's settings, their acknowledgement, response.
    HttpVersion.H2: _TlsWrites(
        (_HTTP2_PREFACE,), _PROTECTED + 105, (_PROTECTED + 21,), (_PROTECTED + 9,), _PROTECTED + 53
    ),
}


class _QuicOverhead(NamedTuple):
    """IP bytes beside the DNS messages over QUIC, and of the server's frames behind its handshake messages."""

    query: int
    response: int
    early_response: int
    server_frames: int


_QUIC = {
    None: _QuicOverhead(_UDP + _DNS_LENGTH + 30, _UDP + _DNS_LENGTH + 35, _UDP + _DNS_LENGTH + 30, _UDP + 138),
    HttpVersion.H3: _QuicOverhead(_UDP + 101, _UDP + 60, _UDP + 55, _UDP + 171),
}


@dataclass(frozen=True, slots=True)
class ExchangeSizes:
    """The recorded sizes of an exchange; those of the handshake are `None` without one, or in old records."""

    query_bytes: int
    response_bytes: int
    client_hello_bytes: int | None = None
    server_hello_bytes: int | None = None
    certificate_bytes: int | None = None
    """`None` also in resumed handshakes."""
    client_hello_packets_count: int | None = None
    server_flight_packets_count: int | None = None


class Packet(NamedTuple):
    """A packet of a flight, in IP bytes."""

    ip_bytes: int
    reply_bytes: int = 0
    """The packet sent back at the arrival, before the next flight: an acknowledgement."""


Flight = tuple[Packet, ...]
"""The packets sent in a row by a side. The arrival of the last packet lets the other side continue."""


def cold_exchange_flights(dns_transport: str, handshake_mode: str, sizes: ExchangeSizes) -> list[Flight] | None:
    """Return the flights of a cold exchange over IPv4, the client's first; `None` without the handshake's sizes."""
    facts = find_facts(dns_transport)
    if facts.carrier is Carrier.UDP:
        return [(Packet(_UDP + sizes.query_bytes),), (Packet(_UDP + sizes.response_bytes),)]
    if not facts.has_handshake:
        messages = (_DNS_LENGTH + sizes.query_bytes, _DNS_LENGTH + sizes.response_bytes)
        return [*_TCP_HANDSHAKE, *(_segments(message) for message in messages)]
    early = handshake_mode == "zero_rtt"
    if facts.carrier is Carrier.QUIC:
        return _quic_flights(facts.http_version, sizes, early=early, resumed=handshake_mode != "full")
    return _tls_flights(facts.http_version, sizes, early=early, resumed=handshake_mode != "full")


def exchange_time_ms(flights: Sequence[Flight], link: LinkProfile, extra_rtt_ms: float = 0.0) -> float:
    """Return the time from the first packet to the arrival of the last, between hosts without computing time.

    Each direction sends one packet at a time at its rate. A reply still on the line therefore delays the next flight.
    `extra_rtt_ms` is the server's distance behind the link.
    """
    free_ms = {True: 0.0, False: 0.0}

    def send(ip_bytes: int, at_ms: float, *, up: bool) -> float:
        way = link.up if up else link.down
        free_ms[up] = max(free_ms[up], at_ms) + _line_time_ms(ip_bytes, way)
        return free_ms[up] + way.one_way_delay_ms + extra_rtt_ms / 2

    at_ms = 0.0
    for number, flight in enumerate(flights):
        up, arrived_ms = number % 2 == 0, at_ms
        for packet in flight:
            arrived_ms = send(packet.ip_bytes, at_ms, up=up)
            if packet.reply_bytes:
                send(packet.reply_bytes, arrived_ms, up=not up)
        at_ms = arrived_ms
    return at_ms


def _line_time_ms(ip_bytes: int, way: DirectionProfile) -> float:
    return wire_time_ms(ip_bytes + (way.packet_overhead_bytes or 0), way.rate_bps) if way.rate_bps else 0.0


# The client acknowledges the SYN-ACK at once (RFC 9293 section 3.5).
_TCP_HANDSHAKE: tuple[Flight, ...] = ((Packet(_SYN),), (Packet(_SYN, _TCP),))


def _segments(*writes: int) -> Flight:
    """Cut each write into segments; Linux acknowledges every segment at the start of a connection."""
    room = MTU_BYTES - _TCP
    sizes = [min(room, size - start) for size in writes for start in range(0, size, room)]
    return tuple(Packet(_TCP + size, _TCP) for size in sizes)


def _tls_flights(
    http_version: HttpVersion | None, sizes: ExchangeSizes, *, early: bool, resumed: bool
) -> list[Flight] | None:
    """Return the flights over TCP with TLS 1.3 (RFC 8446 section 2; with early data, section 2.3)."""
    if sizes.client_hello_bytes is None or sizes.server_hello_bytes is None:
        return None
    hello = _RECORD + sizes.client_hello_bytes
    extensions = _EXTENSIONS + _ALPN_BYTES[http_version] + _EMPTY_EXTENSION * (early or not resumed)
    server_hello = _RECORD + sizes.server_hello_bytes + _CHANGE_CIPHER_SPEC
    server_flight = server_hello + _PROTECTED + extensions + _certificate_messages(sizes) + _FINISHED
    writes = _TLS_WRITES[http_version]
    query = [*writes.before_query, writes.query + sizes.query_bytes]
    response = [*writes.before_response, writes.response + sizes.response_bytes]
    if early:
        first = _segments(hello + _CHANGE_CIPHER_SPEC + sum(query))
        return [*_TCP_HANDSHAKE, first, *_within_window(_segments(server_flight, *writes.at_finished, *response))]
    # Tickets and settings leave at the arrival of Finished, before the query is there.
    at_finished = sum(writes.at_finished) + (_TICKET_RECORD if resumed else 0)
    finished = Packet(_TCP + _CHANGE_CIPHER_SPEC + _PROTECTED + _FINISHED, _TCP + at_finished)
    handshake = [_segments(hello), *_within_window(_segments(server_flight))]
    return [*_TCP_HANDSHAKE, *handshake, (finished, *_segments(*query)), *_within_window(_segments(*response))]


def _certificate_messages(sizes: ExchangeSizes) -> int:
    if sizes.certificate_bytes is None:
        return 0
    return _CERTIFICATE_FRAMING + sizes.certificate_bytes + _CERTIFICATE_VERIFY


def _quic_flights(
    http_version: HttpVersion | None, sizes: ExchangeSizes, *, early: bool, resumed: bool
) -> list[Flight] | None:
    """Return the flights over QUIC (RFC 9001 section 4), with Initial packets acknowledged at once.

    RFC 9000 section 13.2.1 demands these acknowledgements.
    """
    if sizes.client_hello_packets_count is None or sizes.server_flight_packets_count is None:
        return None
    own = _QUIC[http_version]
    hello = _datagrams(sizes.client_hello_packets_count, _QUIC_ACK)
    # The client pads its acknowledgements.
    server_flight = _datagrams(sizes.server_flight_packets_count, _PADDED)
    limit = min(INITIAL_WINDOW_PACKETS, AMPLIFICATION_LIMIT * len(hello))
    if early:
        response = (Packet(own.server_frames), Packet(own.early_response + sizes.response_bytes))
        return [hello, *_within_window((*server_flight, *response), limit, _QUIC_ACK)]
    finished = Packet(_PADDED, _QUIC_AFTER_FINISHED + (_TICKET_FRAME if resumed else 0))
    query = (finished, Packet(_QUIC_CLIENT_FRAMES, _QUIC_FRAMES_ACK), Packet(own.query + sizes.query_bytes))
    return [
        hello,
        *_within_window(server_flight, limit, _QUIC_ACK),
        query,
        (Packet(own.response + sizes.response_bytes),),
    ]


def _datagrams(count: int, reply_bytes: int) -> Flight:
    """Return padded datagrams; the last is acknowledged by the next flight itself."""
    return (*(Packet(_PADDED, reply_bytes) for _ in range(count - 1)), Packet(_PADDED))


def _within_window(
    flight: Flight, window: int = INITIAL_WINDOW_PACKETS, acknowledgement_bytes: int = _TCP
) -> Iterator[Flight]:
    """Cut a flight at the initial window; the rest waits for an acknowledgement, a further round trip."""
    for start in range(0, len(flight), window):
        if start:
            yield (Packet(acknowledgement_bytes),)
        yield flight[start : start + window]
