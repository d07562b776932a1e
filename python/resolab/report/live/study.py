"""A live dataset as a study of configurations, with named resolvers, and vantage points as networks.

For: the common basis of the live findings, figures and tables. Not for: the figures.

`profile` is the vantage point here (`findings.planned`), and comparisons never span two vantage points.
"""

from collections.abc import Mapping
from functools import cached_property

from resolab.basics.protocols import transport_position
from resolab.report.findings.resolvers import Resolver
from resolab.report.live.configurations.loads import Configuration, Loads, arrange
from resolab.report.live.configurations.study import ConfigurationStudy
from resolab.store.live.queries import CACHED, NOT_CACHED, CacheStateRow, LookupRow, cache_states, lookups_by_site


class LiveStudy(ConfigurationStudy):
    """The study of a live dataset, read on demand while the dataset is open."""

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
