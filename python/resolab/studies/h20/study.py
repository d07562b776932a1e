"""A dataset as a study in the manner of Hounsel et al.: its networks, distances, loads and queries, read once.

For: the common basis of the paper's figures and tables. Not for: the figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from resolab.basics.protocols import transport_position
from resolab.plan.access_link import access_rtt_ms
from resolab.plan.factors import QUERY_FACTORS
from resolab.report.findings.findings import Findings
from resolab.report.findings.resolvers import Resolver
from resolab.report.live.configurations.study import ConfigurationStudy
from resolab.store import Dataset, QueryDistribution
from resolab.store.outcomes import PLT, LoadOutcome
from resolab.studies.h20.do53_differences import Do53Difference, compare_with_do53
from resolab.studies.h20.paper_numbers import NETWORKS, find_network, vantage_points
from resolab.studies.h20.queries import (
    ExchangeMedianRow,
    QueryCostRow,
    exchange_medians,
    query_costs,
)


def has_h20_network(findings: Findings) -> bool:
    """Return True when the plan has a network of the paper."""
    return any(find_network(profile) for profile in findings.plan.factors.profile)


class H20Study(ConfigurationStudy):
    """The study of a dataset on the paper's networks."""

    def __init__(self, dataset: Dataset, findings: Findings, outcome: LoadOutcome = PLT) -> None:
        super().__init__(dataset, findings, outcome)
        self.links = {one.name: one for one in findings.manifest.profiles}

    @cached_property
    def differences(self) -> list[Do53Difference]:
        """Every configuration against Do53 to the same resolver, networks in the paper's order."""
        rtt_ms = {profile: self.rtt_ms(profile) for profile in self.profiles}
        return compare_with_do53(self.loads, rtt_ms, self.level, self.outcome)

    @cached_property
    def distributions(self) -> list[QueryDistribution]:
        """Response times by network, resolver, transport, handshake and connection state."""
        return self.dataset.query_distributions(_DISTRIBUTION_KEYS, level=self.level)

    @cached_property
    def response_times(self) -> list["ResponseTimes"]:
        """The distributions with levels as values: networks in the paper's order, resolvers near before far."""
        profiles = list(self.profiles)

        def place(one: ResponseTimes) -> tuple[object, ...]:
            transport = transport_position(one.dns_transport)
            handshake = (one.requested_handshake_mode, one.connection)
            return profiles.index(one.profile), one.resolver.place, transport, handshake

        found = (ResponseTimes.from_distribution(one) for one in self.distributions)
        return sorted((one for one in found if one.profile in self.profiles), key=place)

    @cached_property
    def costs(self) -> list[QueryCostRow]:
        """Sums of query times, by batch of blocks."""
        return [row for row in query_costs(self.dataset) if row.profile in self.profiles]

    @cached_property
    def exchange_medians(self) -> list[ExchangeMedianRow]:
        """Medians of exchanges on an open connection."""
        return exchange_medians(self.dataset)

    def exchange_median_ms(self, profile: str, resolver: Resolver, dns_transport: str) -> float | None:
        """Return the median exchange of a transport on an open connection, or of Do53."""
        for row in self.exchange_medians:
            at = Resolver(row.resolver_extra_rtt_ms, row.resolver_cache, row.resolver, row.resolver_software)
            if (row.profile, at, row.dns_transport) == (profile, resolver, dns_transport):
                return row.median_ms
        return None

    @cached_property
    def profiles(self) -> Sequence[str]:
        """Profiles of the paper's networks, in the paper's order, without other profiles."""
        order = list(NETWORKS.values())
        theirs = {profile: find_network(profile) for profile in self.findings.plan.factors.profile}
        known = [(order.index(network), profile) for profile, network in theirs.items() if network is not None]
        return [profile for _, profile in sorted(known, key=lambda one: one[0])]

    @property
    def distances_ms(self) -> list[float]:
        """Distances of the resolver beyond the access link, near before far."""
        return sorted({one.extra_rtt_ms for one in self.resolvers})

    @property
    def vantage_points(self) -> dict[float, str]:
        """The paper's vantage points by resolver distance."""
        return {distance: name for name, distance in vantage_points(self.distances_ms).items()}

    def rtt_ms(self, profile: str) -> float:
        """Return the round-trip time of the access link."""
        return access_rtt_ms(self.links[profile])

    def loss_ratio(self, profile: str) -> float:
        """Return the probability of losing a query or its response on the access link, at one packet each."""
        link = self.links[profile]
        return 1 - (1 - link.up.loss_ratio) * (1 - link.down.loss_ratio)


_DISTRIBUTION_KEYS = (*QUERY_FACTORS, "dns_transport", "requested_handshake_mode", "connection")


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """A distribution of query response times with its levels as values."""

    profile: str
    resolver: Resolver
    dns_transport: str
    requested_handshake_mode: str
    connection: str
    distribution: QueryDistribution

    @classmethod
    def from_distribution(cls, distribution: QueryDistribution) -> "ResponseTimes":
        """Read the levels from a distribution's key."""
        key: Mapping[str, str] = distribution.key
        return cls(
            profile=key["profile"],
            resolver=Resolver(
                float(key["resolver_extra_rtt_ms"]), key["resolver_cache"], key["resolver"], key["resolver_software"]
            ),
            dns_transport=key["dns_transport"],
            requested_handshake_mode=key["requested_handshake_mode"],
            connection=key["connection"],
            distribution=distribution,
        )
