"""A live dataset in the manner of Hounsel et al.: the response times and costs of its queries, read once.

For: the figures of response times and amortisation. Not for: loads and look-ups by site (`report.live.study`).
"""

from collections.abc import Sequence
from functools import cached_property

from resolab.basics.protocols import transport_position
from resolab.plan.factors import QUERY_FACTORS
from resolab.report.findings.resolvers import Resolver
from resolab.report.live.study import LiveStudy
from resolab.store.live.queries import CACHED
from resolab.studies.h20.queries import QueryCostRow, query_costs
from resolab.studies.h20.study import ResponseTimes

_KEYS = (*QUERY_FACTORS, "dns_transport", "requested_handshake_mode")


class LiveQueryStudy(LiveStudy):
    """The queries of a live dataset, read on demand while the dataset is open."""

    def times(self, cache: Sequence[str] | None) -> list[ResponseTimes]:
        """Return response times by vantage point, resolver, transport and connection, for the given cache states."""
        where = None if cache is None else {"cache_state": cache}
        found = self.dataset.query_distributions([*_KEYS, "connection"], where, level=self.level)
        places = list(self.profiles)
        return sorted(
            (ResponseTimes.from_distribution(one) for one in found),
            key=lambda one: (
                places.index(one.profile),
                self.resolver_order[one.resolver.name],
                transport_position(one.dns_transport),
                one.connection,
            ),
        )

    @cached_property
    def response_times(self) -> list[ResponseTimes]:
        """Response times used for amortisation: cached answers when cache states are known, otherwise all answers."""
        return self.times(CACHED if self.knows_caches else None)

    @cached_property
    def costs(self) -> list[QueryCostRow]:
        """Sums of the same queries' times, by batch of blocks, including failed queries."""
        return query_costs(self.dataset, cached_only=self.knows_caches)

    def exchange_median_ms(self, profile: str, resolver: Resolver, dns_transport: str) -> float | None:
        """Return the median response without a connection, or over an open connection."""
        connection = "cold" if dns_transport == "doudp" else "warm"
        for one in self.response_times:
            levels = (one.profile, one.resolver, one.dns_transport, one.connection)
            if levels == (profile, resolver, dns_transport, connection):
                return one.distribution.median_ms
        return None
