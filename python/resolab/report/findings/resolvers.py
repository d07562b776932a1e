"""Resolvers by distance and state of their cache, which stand for providers and vantage points, or by their names.

For: telling them apart, and naming them by what differs. Not for: numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resolab.report.findings.findings import ExchangeResult

LAB = "lab"
"""The name of every resolver of the emulated network."""
_CACHE_ORDER = ("hit", "miss")


@dataclass(frozen=True, slots=True)
class Resolver:
    """A distance beyond the access link, and whether the cache has the answer; on the live network a name."""

    extra_rtt_ms: float
    cache: str
    name: str = LAB

    @property
    def place(self) -> tuple[float, int, str]:
        """Key for sorting: near before far, hit before miss, then by name."""
        return self.extra_rtt_ms, _CACHE_ORDER.index(self.cache), self.name

    def label(self, among: Sequence["Resolver"]) -> str:
        """Name it by what differs among resolvers; nothing if there is only one."""
        parts = [self.name] if len({one.name for one in among}) > 1 else []
        if several_distances(among):
            parts.append(f"resolver +{self.extra_rtt_ms:g} ms")
        if several_caches(among):
            parts.append(f"cache {self.cache}")
        return ", ".join(parts)


def several_distances(among: Iterable[Resolver]) -> bool:
    """Whether resolvers stand at more than one distance."""
    return len({one.extra_rtt_ms for one in among}) > 1


def several_caches(among: Iterable[Resolver]) -> bool:
    """Whether resolvers have both states of their cache."""
    return len({one.cache for one in among}) > 1


def resolver_of(one: ExchangeResult) -> Resolver:
    """Return the resolver that exchanges were with."""
    return Resolver(one.resolver_extra_rtt_ms, one.resolver_cache, one.resolver)


def resolvers_of(exchanges: Iterable[ExchangeResult]) -> list[Resolver]:
    """List the resolvers that exchanges were with, near before far."""
    return sorted({resolver_of(one) for one in exchanges}, key=lambda one: one.place)
