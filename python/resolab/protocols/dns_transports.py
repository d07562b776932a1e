"""The DNS transports, one row each: what carries it, its handshake, its HTTP, its address, its round trips, its name.

For: the one place that knows these facts; a new transport is a row here, and
`python/tests/protocols/test_every_transport.py` says what else it lacks. Not for: colours and dashes (`plots.style`).

Functions take the word of a transport, as tables and datasets have it, or its `DnsTransport`, which is the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from resolab.records import DnsTransport, HttpVersion


class Carrier(StrEnum):
    """What a transport's messages travel in."""

    UDP = "udp"
    TCP = "tcp"
    QUIC = "quic"


@dataclass(frozen=True, slots=True)
class TransportFacts:
    """What is known of one transport."""

    label: str
    """As people and papers spell it."""
    carrier: Carrier
    has_handshake: bool
    """Whether there is a TLS handshake, and with it certificates, tickets and handshake modes."""
    http_version: HttpVersion | None
    """The HTTP version its queries are requests of, by GET or POST; `None`: it speaks no HTTP."""
    url_form: str
    """A resolver's URL, made of its `name` or its `address`."""
    cold_round_trips: int
    """From wanting an answer to having it, no connection being open and with a full handshake."""

    @property
    def has_connection(self) -> bool:
        """Whether a connection is opened before the first query, which can then be warm."""
        return self.carrier is not Carrier.UDP

    @property
    def is_over_http(self) -> bool:
        """Whether its queries are HTTP requests."""
        return self.http_version is not None

    def url(self, *, name: str, address: str) -> str:
        """Write the URL of a resolver."""
        return self.url_form.format(name=name, address=address)


DNS_TRANSPORTS: Mapping[DnsTransport, TransportFacts] = {
    DnsTransport.DOUDP: TransportFacts(
        label="DoUDP",
        carrier=Carrier.UDP,
        has_handshake=False,
        http_version=None,
        url_form="udp://{address}",
        cold_round_trips=1,  # query, response
    ),
    DnsTransport.DOTCP: TransportFacts(
        label="DoTCP",
        carrier=Carrier.TCP,
        has_handshake=False,
        http_version=None,
        url_form="tcp://{address}",
        cold_round_trips=2,  # SYN first (RFC 7766)
    ),
    DnsTransport.DOT: TransportFacts(
        label="DoT",
        carrier=Carrier.TCP,
        has_handshake=True,
        http_version=None,
        url_form="tls://{name}",
        cold_round_trips=3,  # SYN, then a TLS 1.3 handshake (RFC 7858, 8446)
    ),
    DnsTransport.DOH: TransportFacts(
        label="DoH",
        carrier=Carrier.TCP,
        has_handshake=True,
        http_version=HttpVersion.H2,
        url_form="https://{name}/dns-query",
        cold_round_trips=3,  # as DoT; HTTP/2's preface needs no round trip of its own (RFC 9113 section 3.4)
    ),
    DnsTransport.DOH3: TransportFacts(
        label="DoH3",
        carrier=Carrier.QUIC,
        has_handshake=True,
        http_version=HttpVersion.H3,
        url_form="h3://{name}/dns-query",
        cold_round_trips=2,  # QUIC joins transport and TLS handshake (RFC 9001 section 4)
    ),
    DnsTransport.DOQ: TransportFacts(
        label="DoQ",
        carrier=Carrier.QUIC,
        has_handshake=True,
        http_version=None,
        url_form="quic://{name}",
        cold_round_trips=2,  # as DoH3 (RFC 9250)
    ),
}
"""In the order of lists and tables, which is the order of `DnsTransport`."""


def _those(chosen: Callable[[TransportFacts], bool]) -> tuple[DnsTransport, ...]:
    return tuple(one for one, facts in DNS_TRANSPORTS.items() if chosen(facts))


WITHOUT_CONNECTION = _those(lambda facts: not facts.has_connection)
WITHOUT_HANDSHAKE = _those(lambda facts: not facts.has_handshake)
OVER_TCP = _those(lambda facts: facts.carrier is Carrier.TCP)
OVER_HTTP = _those(lambda facts: facts.is_over_http)
WITHOUT_HTTP = _those(lambda facts: not facts.is_over_http)


def facts_of(dns_transport: str) -> TransportFacts:
    """Look a transport up."""
    return DNS_TRANSPORTS[DnsTransport(dns_transport)]


def place_of(dns_transport: str) -> int:
    """Return its place in lists and tables, as a key for sorting."""
    return list(DNS_TRANSPORTS).index(DnsTransport(dns_transport))


def has_handshake(dns_transport: str) -> bool:
    """Whether it has a TLS handshake."""
    return facts_of(dns_transport).has_handshake


def transport_label(dns_transport: str) -> str:
    """Spell it as people and papers do."""
    return facts_of(dns_transport).label
