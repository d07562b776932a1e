"""Conditions a plan's own software cannot have, or nobody could judge.

For: refusing such conditions before a run, with the exclusion to add. Not for: rules of all plans (`support`).

The edge sees nothing of a browser's connection to other software. So the stub judges look-ups, and our own client
judges exchanges and fetches.
"""

from collections.abc import Iterator, Mapping

from resolab.basics.protocols import WITHOUT_HANDSHAKE
from resolab.basics.records import (
    ConnectionSharing,
    ConnectionState,
    DnsTransport,
    HandshakeMode,
    ResolverCache,
    ResolverPath,
    TrialKind,
)
from resolab.plan.condition import Condition
from resolab.plan.factors import format_level, list_allowed_words
from resolab.plan.impossible import ImpossibleLevels
from resolab.plan.software.settings import CacheBefore, Software


def find_impossible(software: Mapping[str, Software], condition: Condition) -> ImpossibleLevels | None:
    """Find out why a condition cannot be with its software."""
    own = software.get(condition.resolver_software)
    if own is None:
        return None
    return next((one for one in _list_rules(own, condition) if one is not None), None)


def _list_rules(own: Software, condition: Condition) -> Iterator[ImpossibleLevels | None]:
    yield _refuse_transport(own, condition)
    yield _refuse_sharing(own, condition)
    if condition.kind is TrialKind.PAGE_LOAD:
        yield _refuse_path(own, condition)
        yield _refuse_misses(own, condition)
    yield _refuse_cold_cache(own, condition) if own.cache is CacheBefore.COLD else _refuse_warm_cache(own, condition)


def _refuse_transport(own: Software, condition: Condition) -> ImpossibleLevels | None:
    if condition.dns_transport in own.transports:
        return None
    silent = tuple(str(one) for one in DnsTransport if one not in own.transports)
    levels = {"resolver_software": (own.name,), "dns_transport": silent}
    return ImpossibleLevels(levels, f"{own.name} speaks {', '.join(own.transports)} only")


def _refuse_sharing(own: Software, condition: Condition) -> ImpossibleLevels | None:
    if condition.connection_sharing is not ConnectionSharing.RESOLVER_CONNECTION:
        return None
    levels = {"resolver_software": (own.name,), "connection_sharing": ("resolver_connection",)}
    return ImpossibleLevels(levels, "only the edge serves pages on the resolver's connection")


def _refuse_path(own: Software, condition: Condition) -> ImpossibleLevels | None:
    path, transport = condition.resolver_path, condition.dns_transport
    levels: dict[str, tuple[str, ...]] = {"resolver_software": (own.name,), "resolver_path": (str(path),)}
    if path is ResolverPath.GATEWAY:
        return ImpossibleLevels(levels, "the edge judges the gateway's look-ups, and does not see other software")
    if path is ResolverPath.NATIVE and transport not in WITHOUT_HANDSHAKE:
        shaking = tuple(str(one) for one in DnsTransport if one not in WITHOUT_HANDSHAKE)
        reason = 'nobody could judge the handshake of the browser\'s own connection; use "stub"'
        return ImpossibleLevels({**levels, "dns_transport": shaking}, reason)
    return None


def _refuse_misses(own: Software, condition: Condition) -> ImpossibleLevels | None:
    if not condition.resolver_miss_ratio:
        return None
    ratio = format_level(condition.resolver_miss_ratio, "resolver_miss_ratio")
    levels = {"resolver_software": (own.name,), "resolver_miss_ratio": (ratio,)}
    return ImpossibleLevels(levels, "the lab cannot make other software lack some of its answers")


def _refuse_warm_cache(own: Software, condition: Condition) -> ImpossibleLevels | None:
    if condition.resolver_cache is not ResolverCache.MISS:
        return None
    levels = {"resolver_software": (own.name,), "resolver_cache": (str(ResolverCache.MISS),)}
    return ImpossibleLevels(levels, f'{own.name} has warm caches; give it cache = "cold"')


def _refuse_cold_cache(own: Software, condition: Condition) -> ImpossibleLevels | None:
    """Refuse cold caches wherever an earlier query of the trial would fill them."""
    name = {"resolver_software": (own.name,)}
    if condition.kind is TrialKind.PAGE_LOAD:
        return ImpossibleLevels(name, f'the warm-up fills the cache of {own.name}; give it cache = "warm"')
    full, cold = HandshakeMode.FULL, ConnectionState.COLD
    if condition.requested_dns_handshake_mode is not full:
        others = tuple(word for word in list_allowed_words("requested_dns_handshake_mode") if word != str(full))
        levels = {**name, "requested_dns_handshake_mode": others}
        return ImpossibleLevels(levels, f"the query for the ticket fills the cache of {own.name}")
    if condition.dns_connection_state is not cold:
        levels = {**name, "dns_connection_state": (str(ConnectionState.WARM),)}
        return ImpossibleLevels(levels, f"the query before fills the cache of {own.name}")
    return None
