"""A live dataset as a study in the manner of Hounsel et al., with named resolvers, and vantage points as networks.

For: the common basis of the live figures and tables. Not for: the figures.

`profile` is the vantage point here (`findings.planned`), and comparisons never span two vantage points.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from resolab.plan.factors import QUERY_FACTORS
from resolab.protocols import transport_position
from resolab.report.findings.resolvers import Resolver
from resolab.report.h20.loads import Configuration, Loads, arrange
from resolab.report.h20.study import H20Study, ResponseTimes
from resolab.store.live.queries import CACHED, NOT_CACHED, CacheStateRow, LookupRow, cache_states, lookups_by_site
from resolab.store.studies.h20 import QueryCostRow, query_costs

_KEYS = (*QUERY_FACTORS, "dns_transport", "requested_handshake_mode")


class LiveStudy(H20Study):
    """The study of a live dataset, read on demand while the dataset is open."""

    @cached_property
    def profiles(self) -> Sequence[str]:
        """The vantage points, in the dataset's order."""
        return self.findings.plan.factors.profile

    @cached_property
    def resolver_order(self) -> Mapping[str, int]:
        """The position of each resolver by name, in the plan's order.

        The position determines the resolver's colour in every figure.
        """
        return {name: place for place, name in enumerate(self.findings.plan.factors.levels["resolver"])}

    @cached_property
    def resolvers(self) -> list[Resolver]:
        """The resolvers by name, in the plan's order."""
        return sorted(super().resolvers, key=lambda one: self.resolver_order[one.name])

    @cached_property
    def loads(self) -> Loads:
        """Loads contributing to the outcome by vantage point, configuration and pair."""
        found = arrange(self.rows, self.outcome)
        return {
            place: {one: found[place][one] for one in sorted(found[place], key=self.sort_key)}
            for place in self.profiles
            if place in found
        }

    def sort_key(self, one: Configuration) -> tuple[object, ...]:
        """Return a sort key: resolvers in the plan's order, transports within them."""
        return self.resolver_order[one.resolver.name], transport_position(one.dns_transport), one.further

    @property
    def configurations(self) -> list[Configuration]:
        """Every configuration with loads from any vantage point, in order."""
        found = {one for arms in self.loads.values() for one in arms}
        return sorted(found, key=self.sort_key)

    @cached_property
    def knows_caches(self) -> bool:
        """True when the cache state of any lookup is known."""
        return any(one.cache_state in (*CACHED, *NOT_CACHED) for one in self.cache_states)

    @cached_property
    def lookups(self) -> list[LookupRow]:
        """Lookups by configuration and site."""
        return lookups_by_site(self.dataset)

    @cached_property
    def cache_states(self) -> list[CacheStateRow]:
        """Counts of lookups by cache state."""
        return cache_states(self.dataset)

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
