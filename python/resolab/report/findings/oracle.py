"""The expected result of a comparison by the protocols: round trips, and bytes over the link's rates.

For: the same expected difference for tables, figures and captions. Not for: measured values, or the work of browser,
client and server; the closed form assumes equal work in both arms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resolab.basics.protocols import (
    ExchangeSizes,
    cold_exchange_flights,
    exchange_time_ms,
    first_byte_bytes,
    lookup_round_trips,
    page_handshake_round_trips,
    wire_time_ms,
)
from resolab.basics.records import (
    ConnectionSharing,
    ConnectionState,
    HandshakeMode,
    LinkProfile,
    PageSpeculation,
    ResolverCache,
    TrialKind,
)
from resolab.plan import Condition, Plan
from resolab.plan.software.settings import EDGE


@dataclass(frozen=True, slots=True)
class ExpectedDifference:
    """A treatment minus its baseline, in milliseconds."""

    round_trips_ms: float
    bytes_ms: float | None
    """The difference by bytes over the rates; `None` unless the bytes of both are known."""

    @property
    def total_ms(self) -> float:
        """The sum of the known parts."""
        return self.round_trips_ms + (self.bytes_ms or 0.0)


@dataclass(frozen=True, slots=True)
class Oracle:
    """The closed form of a dataset's trials."""

    plan: Plan
    rtt_ms: Mapping[str, float]
    links: Mapping[str, LinkProfile] = field(default_factory=dict)
    """Profiles with known rates; empty for a dataset with hellos of a different size than in the table."""
    exchange_sizes: Mapping[str, ExchangeSizes] = field(default_factory=dict)
    """The recorded sizes of exchanges, by condition."""

    def where_known(self, treatment: Condition, baseline: Condition) -> ExpectedDifference | None:
        """Return the expected difference, or `None` with unknown round trips (live network) or random cache misses."""
        known = {treatment.profile, baseline.profile} <= self.rtt_ms.keys()
        by_chance = {treatment.resolver_miss_ratio, baseline.resolver_miss_ratio} - {0.0, 1.0}
        return self.predict_extra_time(treatment, baseline) if known and not by_chance else None

    def predict_extra_time(self, treatment: Condition, baseline: Condition) -> ExpectedDifference:
        """Return the treatment's extra time before the page's first byte; both profiles must be known."""
        own, other = (self.predict_wait_before_request_ms(one) for one in (treatment, baseline))
        own_bytes, other_bytes = (self._bytes_ms(one) for one in (treatment, baseline))
        return ExpectedDifference(
            own - other, None if own_bytes is None or other_bytes is None else own_bytes - other_bytes
        )

    def predict_wait_before_request_ms(self, condition: Condition) -> float:
        """Return the wait before a page load's first request: lookup at the resolver's distance, and page handshake.

        For a study, its own closed form. For an exchange, the wait for the response. For a fetch,
        the wait before the request of its document; a request in the flight of the query leaves a round trip before the
        answer.
        """
        if self.plan.study is not None:
            rtt_ms = self.rtt_ms[condition.profile] + condition.resolver_extra_rtt_ms
            return self.plan.study.predict_ms(condition, rtt_ms)
        lookup = lookup_round_trips(
            condition.dns_transport, condition.requested_dns_handshake_mode, condition.dns_connection_state
        )
        page = _page_round_trips(condition)
        misses = condition.resolver_cache is ResolverCache.MISS or condition.resolver_miss_ratio == 1.0
        miss_ms = self.plan.resolver.miss_delay_ms if misses else 0.0
        link_ms = self.rtt_ms[condition.profile]
        return lookup * (link_ms + condition.resolver_extra_rtt_ms) + miss_ms + page * link_ms

    def _bytes_ms(self, condition: Condition) -> float | None:
        link = self.links.get(condition.profile)
        if link is not None and condition.kind is TrialKind.EXCHANGE:
            return self._exchange_bytes_ms(condition, link)
        if link is None or condition.kind is not TrialKind.PAGE_LOAD or not _is_tabulated(condition):
            return None
        found = first_byte_bytes(
            condition.browser_kind, f"{condition.resolver_path}-{condition.dns_transport}",
            condition.http_version, condition.requested_handshake_mode,
        )  # fmt: skip
        if found is None:
            return None
        ways = ((found.up, link.up.rate_bps), (found.down, link.down.rate_bps))
        return sum(wire_time_ms(count, rate_bps) for count, rate_bps in ways if rate_bps)

    def _exchange_bytes_ms(self, condition: Condition, link: LinkProfile) -> float | None:
        """Return an exchange's closed form without its round trips.

        `None` for an exchange without recorded sizes, or with own software: its flights are not the edge's.
        """
        sizes, mode = self.exchange_sizes.get(condition.id), condition.requested_dns_handshake_mode
        flights = None if sizes is None else cold_exchange_flights(condition.dns_transport, mode, sizes)
        if flights is None or condition.dns_connection_state is not ConnectionState.COLD:
            return None
        if condition.resolver_software != EDGE:
            return None
        extra_ms = condition.resolver_extra_rtt_ms
        rtt_ms = self.rtt_ms[condition.profile] + extra_ms
        round_trips = lookup_round_trips(condition.dns_transport, mode, condition.dns_connection_state)
        return exchange_time_ms(flights, link, extra_ms) - round_trips * rtt_ms


def _page_round_trips(condition: Condition) -> int:
    """Return the round trips between the answer and the page's request: a handshake, unless there is a connection."""
    if condition.kind is TrialKind.EXCHANGE:
        return 0
    if condition.kind is TrialKind.FETCH:
        if condition.speculation is PageSpeculation.DOCUMENT:
            return -1
        if condition.connection_sharing is ConnectionSharing.RESOLVER_CONNECTION:
            return 0
    return page_handshake_round_trips(condition.http_version, condition.page_handshake_mode)


def _is_tabulated(condition: Condition) -> bool:
    """Return True when the lookup opens its connection with a full handshake, as in the captures."""
    return (condition.dns_connection_state, condition.requested_dns_handshake_mode) == (
        ConnectionState.COLD,
        HandshakeMode.FULL,
    )
