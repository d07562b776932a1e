"""Resolvers by distance and cache state (standing for providers and vantage points), or by name.

For: distinguishing them, and labelling their differences. Not for: numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resolab.plan.software import EDGE
from resolab.report.findings.findings import ExchangeResult

LAB = "lab"
"""The name of every resolver of the emulated network."""
_CACHE_ORDER = ("hit", "miss")


@dataclass(frozen=True, slots=True)
class Resolver:
    """A resolver: its distance beyond the access link and its cache state; on the live network a name."""

    extra_rtt_ms: float
    cache: str
    name: str = LAB
    software: str = EDGE
    """The program, in the lab: the edge or a name of the plan's own software."""

    @property
    def place(self) -> tuple[float, int, str, bool, str]:
        """The sort key: near before far, hit before miss, then by name, the edge before other software."""
        return self.extra_rtt_ms, _CACHE_ORDER.index(self.cache), self.name, self.software != EDGE, self.software

    def label(self, among: Sequence["Resolver"]) -> str:
        """Return a label of the differences among resolvers, empty for a single resolver."""
        parts = [self.name] if len({one.name for one in among}) > 1 else []
        if several_programs(among):
            parts.append(self.software)
        if several_distances(among):
            parts.append(f"resolver +{self.extra_rtt_ms:g} ms")
        if several_caches(among):
            parts.append(f"cache {self.cache}")
        return ", ".join(parts)


def several_distances(among: Iterable[Resolver]) -> bool:
    """Return True when resolvers have more than one distance."""
    return len({one.extra_rtt_ms for one in among}) > 1


def several_caches(among: Iterable[Resolver]) -> bool:
    """Return True when resolvers have both cache states."""
    return len({one.cache for one in among}) > 1


def several_programs(among: Iterable[Resolver]) -> bool:
    """Return True when resolvers have more than one program."""
    return len({one.software for one in among}) > 1


def make_resolver(one: ExchangeResult) -> Resolver:
    """Return the resolver of exchanges."""
    return Resolver(one.resolver_extra_rtt_ms, one.resolver_cache, one.resolver, one.resolver_software)


def list_resolvers(exchanges: Iterable[ExchangeResult]) -> list[Resolver]:
    """List the resolvers of exchanges, near before far."""
    return sorted({make_resolver(one) for one in exchanges}, key=lambda one: one.place)
