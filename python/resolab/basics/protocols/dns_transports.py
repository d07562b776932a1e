"""The DNS transports, one row each: carrier, handshake, HTTP version, URL form, round trips and name.

For: these facts in a single place. A new transport is a row here, and `python/tests/protocols/test_every_transport.py`
lists the rest of the work. Not for: colours and dashes (`plots.style`).

Functions take a `DnsTransport` or its string value, as in tables and datasets; both are equivalent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from resolab.basics.records import DnsTransport, HttpVersion


class Carrier(StrEnum):
    """The protocol carrying a transport's messages."""

    UDP = "udp"
    TCP = "tcp"
    QUIC = "quic"


@dataclass(frozen=True, slots=True)
class TransportFacts:
    """The facts about one transport."""

    label: str
    """The spelling used by people and papers."""
    carrier: Carrier
    has_handshake: bool
    """True with a TLS handshake, and so with certificates, tickets and handshake modes."""
    http_version: HttpVersion | None
    """The HTTP version of the queries, sent by GET or POST; `None` for a transport without HTTP."""
    url_form: str
    """A resolver's URL as a format string of `name` or `address`."""
    cold_round_trips: int
    """Round trips from the request for an answer to the answer, without an open connection, with a full handshake."""

    @property
    def has_connection(self) -> bool:
        """Return True when a connection opens before the first query; this connection can then be warm."""
        return self.carrier is not Carrier.UDP

    @property
    def is_over_http(self) -> bool:
        """Return True when the queries are HTTP requests."""
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
"""The transports in the order of lists and tables, also the order of `DnsTransport`."""


def _those(chosen: Callable[[TransportFacts], bool]) -> tuple[DnsTransport, ...]:
    return tuple(one for one, facts in DNS_TRANSPORTS.items() if chosen(facts))


WITHOUT_CONNECTION = _those(lambda facts: not facts.has_connection)
WITHOUT_HANDSHAKE = _those(lambda facts: not facts.has_handshake)
OVER_TCP = _those(lambda facts: facts.carrier is Carrier.TCP)
OVER_HTTP = _those(lambda facts: facts.is_over_http)
WITHOUT_HTTP = _those(lambda facts: not facts.is_over_http)


def find_facts(dns_transport: str) -> TransportFacts:
    """Return the facts about a transport."""
    return DNS_TRANSPORTS[DnsTransport(dns_transport)]


def transport_position(dns_transport: str) -> int:
    """Return a transport's position in lists and tables, as a sort key."""
    return list(DNS_TRANSPORTS).index(DnsTransport(dns_transport))


def has_handshake(dns_transport: str) -> bool:
    """Return True when the transport has a TLS handshake."""
    return find_facts(dns_transport).has_handshake


def transport_label(dns_transport: str) -> str:
    """Return the transport's spelling as used by people and papers."""
    return find_facts(dns_transport).label
