"""What the protocols say a comparison of page loads comes to: round trips, and bytes over the link's rates.

For: one expected difference for tables, figures and captions. Not for: what was measured, or the browser's own work,
which is taken as the same in both arms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resolab.plan import Condition, Plan
from resolab.protocols import first_byte_bytes, lookup_round_trips, page_handshake_round_trips, wire_time_ms
from resolab.records import ConnectionState, HandshakeMode, LinkProfile, ResolverCache


@dataclass(frozen=True, slots=True)
class Expected:
    """A treatment less its baseline, in milliseconds."""

    round_trips_ms: float
    bytes_ms: float | None
    """What bytes over the rates add; None where they are not known of both."""

    @property
    def total_ms(self) -> float:
        """Both, as far as they are known."""
        return self.round_trips_ms + (self.bytes_ms or 0.0)


@dataclass(frozen=True, slots=True)
class Oracle:
    """The closed form of a dataset's page loads."""

    plan: Plan
    rtt_ms: Mapping[str, float]
    links: Mapping[str, LinkProfile] = field(default_factory=dict)
    """Profiles whose rates are known; none in a dataset whose hellos were of another size than those of the table."""

    def where_known(self, treatment: Condition, baseline: Condition) -> Expected | None:
        """Return the same where the round trips of both are known; of the live network they are not, nor by chance."""
        known = {treatment.profile, baseline.profile} <= self.rtt_ms.keys()
        by_chance = {treatment.resolver_miss_ratio, baseline.resolver_miss_ratio} - {0.0, 1.0}
        return self.between(treatment, baseline) if known and not by_chance else None

    def between(self, treatment: Condition, baseline: Condition) -> Expected:
        """Return what the treatment takes more before the page's first byte; both profiles must be known."""
        own, other = (self.before_request_ms(one) for one in (treatment, baseline))
        own_bytes, other_bytes = (self._bytes_ms(one) for one in (treatment, baseline))
        return Expected(own - other, None if own_bytes is None or other_bytes is None else own_bytes - other_bytes)

    def before_request_ms(self, condition: Condition) -> float:
        """Time a page load waits before its first request: look-up at the resolver's distance, the page's handshake."""
        lookup = lookup_round_trips(
            condition.dns_transport, condition.requested_dns_handshake_mode, condition.dns_connection_state
        )
        page = page_handshake_round_trips(condition.http_version, condition.requested_handshake_mode)
        misses = condition.resolver_cache is ResolverCache.MISS or condition.resolver_miss_ratio == 1.0
        miss_ms = self.plan.resolver.miss_delay_ms if misses else 0.0
        link_ms = self.rtt_ms[condition.profile]
        return lookup * (link_ms + condition.resolver_extra_rtt_ms) + miss_ms + page * link_ms

    def _bytes_ms(self, condition: Condition) -> float | None:
        link = self.links.get(condition.profile)
        if link is None or not _is_tabulated(condition):
            return None
        found = first_byte_bytes(
            condition.browser, f"{condition.resolver_path}-{condition.dns_transport}",
            condition.http_version, condition.requested_handshake_mode,
        )  # fmt: skip
        if found is None:
            return None
        ways = ((found.up, link.up.rate_bps), (found.down, link.down.rate_bps))
        return sum(wire_time_ms(count, rate_bps) for count, rate_bps in ways if rate_bps)


def _is_tabulated(condition: Condition) -> bool:
    """Whether the look-up opens its connection with a full handshake, as those did that were captured."""
    return (condition.dns_connection_state, condition.requested_dns_handshake_mode) == (
        ConnectionState.COLD,
        HandshakeMode.FULL,
    )
