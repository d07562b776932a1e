"""The time of a query or page load on the link: round trips, bytes over the rate, and timeouts for losses.

For: closed forms of a page's bytes and names and a profile's rate, round trip and loss, accurate to some ten percent.
Not for: the browser's own time (`expectation`), jitter, bursts of loss, traces, schedules or cross traffic.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Self

from resolab.basics.protocols import lookup_round_trips, page_handshake_round_trips, wire_time_ms
from resolab.basics.records import DnsTransport, HandshakeMode, HttpVersion, LinkProfile
from resolab.lab.layout import PageSite

INITIAL_WINDOW_BYTES = 14_600
"""The initial window: ten segments (RFC 6928, RFC 9002 section 7.2)."""
SEGMENT_BYTES = 1_460
WIRE_BYTES_PER_BODY_BYTE = 1.08
"""The overhead factor for headers and padding of TCP or QUIC, TLS and HTTP."""
CONNECTION_WIRE_BYTES = 4_500
"""The bytes of a full TLS handshake, most of them for the certificates."""
QUERY_TIMEOUT_S = 5.0
"""The timeout after a lost DoUDP query, in s, in the C library and in clients with the same behaviour."""
CONNECT_TIMEOUT_S = 1.0
"""The timeout, in s, after a lost SYN (RFC 6298 section 2) or QUIC Initial (RFC 9002 section 6.2.2)."""
LEAST_RETRANSMISSION_S = 0.2
"""The least timeout of Linux's TCP, in s. A loss at the end of a flow costs this timeout, other losses a round trip."""
_NEGLIGIBLE = 1e-3
_SPREAD_UP_TO_MEAN = 10_000


@dataclass(frozen=True, slots=True)
class PageSize:
    """The size of a page in bytes, requests and names."""

    body_bytes: int
    requests_count: int
    names_count: int

    @classmethod
    def from_page(cls, site: PageSite) -> Self:
        """Count a page's files, in transferred form."""
        served = [(origin.serving, origin.folder) for origin in site.origins if origin.folder is not None]
        files = [file for serving, folder in served for file in serving.files(folder)]
        return cls(
            body_bytes=sum(file.stat().st_size for file in files),
            requests_count=site.request_count or len(files),
            names_count=len(site.origins),
        )


@dataclass(frozen=True, slots=True)
class AccessLink:
    """The access link from a load's point of view."""

    rtt_s: float
    resolver_rtt_s: float
    rate_bps: float
    """The rate towards the client, from the link's rate or policer; infinite without either."""
    down_loss_ratio: float
    exchange_loss_ratio: float
    """The probability of losing a packet or the packet answering it."""
    burst_bytes: float = 0.0
    """The bytes passing at once before a policer's rate applies."""

    @classmethod
    def from_profile(cls, profile: LinkProfile, *, rtt_s: float, resolver_rtt_s: float) -> Self:
        """Take the link's values from a profile; the round trips are arguments, as servers can be farther away."""
        up, down = profile.up.loss_ratio or 0.0, profile.down.loss_ratio or 0.0
        rate_bps, burst_bytes = profile.down.rate_bps or math.inf, 0.0
        policer = profile.down.policer
        if policer is not None and policer.rate_bps < rate_bps:
            rate_bps, burst_bytes = policer.rate_bps, policer.burst_bytes
        return cls(
            rtt_s=rtt_s,
            resolver_rtt_s=resolver_rtt_s,
            rate_bps=rate_bps,
            down_loss_ratio=down,
            exchange_loss_ratio=1 - (1 - up) * (1 - down),
            burst_bytes=burst_bytes,
        )


def query_link_s(transport: DnsTransport, link: AccessLink, *, names_count: int) -> float:
    """Return the seconds of our client's queries over a transport.

    The first query is cold; the other names follow over the same connection.
    """
    cold = lookup_round_trips(transport, HandshakeMode.FULL, "cold")
    lost = estimate_most_losses(1, link.exchange_loss_ratio)
    connecting_s = 0.0 if transport is DnsTransport.DOUDP else lost * CONNECT_TIMEOUT_S
    asking_s = link.resolver_rtt_s * (cold + names_count - 1) + lost * names_count * _query_wait_s(transport, link)
    return asking_s + connecting_s


def load_link_s(
    size: PageSize,
    link: AccessLink,
    *,
    dns_transport: DnsTransport | None,
    dns_handshake_mode: HandshakeMode,
    warm_dns: bool,
    http_version: HttpVersion,
    handshake_mode: HandshakeMode,
) -> float:
    """Return the seconds of a load on the link; with `dns_transport` `None`, without a look-up.

    Model: the document and then, at once, all resources named there. Pages with resources naming further resources take
    another round trip for each step.
    """
    connecting = page_handshake_round_trips(http_version, handshake_mode)
    page_round_trips: float = connecting + 1
    lookup_s = 0.0
    if dns_transport is not None:
        first = lookup_round_trips(dns_transport, dns_handshake_mode, "warm" if warm_dns else "cold")
        further = 1 if size.names_count > 1 else 0
        asked_again = estimate_most_losses(size.names_count, link.exchange_loss_ratio)
        lookup_s = (first + further) * link.resolver_rtt_s + asked_again * _query_wait_s(dns_transport, link)
    if size.requests_count > 1:
        page_round_trips += 1 + (connecting if size.names_count > 1 else 0)
    page_round_trips += _window_round_trips(size.body_bytes / size.names_count, link)
    return lookup_s + page_round_trips * link.rtt_s + _compute_rate_limit_s(size, link) + _stalls_s(size, link)


def clone_link_s(
    size: PageSize, link: AccessLink, graph_s: float, *, dns_transport: DnsTransport | None, warm_dns: bool
) -> float:
    """Return the seconds of a page model's clone for link and scripts, by its graph (names over DoUDP).

    The graph gives each name its own connection; the connections share only the link's rate.
    """
    opening_s = 0.0
    if dns_transport is not None and not warm_dns:
        opening_s = (lookup_round_trips(dns_transport, HandshakeMode.FULL, "cold") - 1) * link.resolver_rtt_s
    return max(graph_s, _compute_rate_limit_s(size, link)) + opening_s + _stalls_s(size, link)


def estimate_most_losses(count: int, loss_ratio: float) -> float:
    """Return the expected number of losses of the unluckiest of `count` exchanges; infinite when all are lost."""
    if loss_ratio >= 1:
        return math.inf
    lost = (1 - (1 - loss_ratio**times) ** count for times in itertools.count(1))
    return sum(itertools.takewhile(lambda chance: chance > _NEGLIGIBLE, lost))


def most_losses(count: int, mean: float) -> float:
    """Return the expected losses of the unluckiest of `count` flows, each with `mean` losses on average (Poisson).

    Above a mean of 10,000 the spread between flows is below 5 % of the mean and left out.
    """
    if mean == 0 or mean > _SPREAD_UP_TO_MEAN:
        return mean
    total = below = 0.0
    for losses in itertools.count():
        # In logarithms, for exp(-mean) is 0 from a mean of 746 on.
        below = min(1.0, below + math.exp(losses * math.log(mean) - mean - math.lgamma(losses + 1)))
        chance = 1 - below**count
        if losses > mean and chance < _NEGLIGIBLE:
            return total
        total += chance
    raise AssertionError("chances fall to nothing")


def _query_wait_s(transport: DnsTransport, link: AccessLink) -> float:
    if transport is DnsTransport.DOUDP:
        return QUERY_TIMEOUT_S
    return max(LEAST_RETRANSMISSION_S, link.resolver_rtt_s)


def _window_round_trips(flow_bytes: float, link: AccessLink) -> float:
    """Return the round trips after the first with a doubling window, until the window holds all or fills the link."""
    filling_bytes = link.rate_bps / 8 * link.rtt_s if math.isfinite(link.rate_bps) else math.inf
    return max(0.0, math.log2(1 + min(flow_bytes, filling_bytes) / INITIAL_WINDOW_BYTES) - 1)


def _compute_rate_limit_s(size: PageSize, link: AccessLink) -> float:
    """Return the seconds of a page's bytes at the link's rate."""
    wire_bytes = size.body_bytes * WIRE_BYTES_PER_BODY_BYTE + size.names_count * CONNECTION_WIRE_BYTES
    return wire_time_ms(max(0.0, wire_bytes - link.burst_bytes), link.rate_bps) / 1e3


def _stalls_s(size: PageSize, link: AccessLink) -> float:
    """Return the seconds lost to packet losses: while opening connections, and during transfers."""
    opening_s = estimate_most_losses(size.names_count, link.exchange_loss_ratio) * CONNECT_TIMEOUT_S
    lost_mean = size.body_bytes / SEGMENT_BYTES / size.names_count * link.down_loss_ratio
    return opening_s + most_losses(size.names_count, lost_mean) * max(LEAST_RETRANSMISSION_S, link.rtt_s)
