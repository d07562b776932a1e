"""The distance of servers: a profile with the resolver's address, or some of a page's, farther away.

For: pure changes of a profile, and the resulting round trip times. Not for: the link itself, controlled by the
profile's `far` tables.
"""

import ipaddress
from statistics import fmean

import msgspec

from resolab.basics.records import FarNetwork, LinkProfile
from resolab.lab.layout import FIRST_NETWORK, RESOLVER_ADDRESS, PageSite
from resolab.plan import access_rtt_ms

_FURTHER_NETWORKS = tuple(f"10.77.{1 << bits}.0/{24 - bits}" for bits in range(1, 8))
"""All networks of pages beyond the first network."""


def move_resolver(profile: LinkProfile, extra_rtt_ms: float, address: str = RESOLVER_ADDRESS) -> LinkProfile:
    """Move the resolver away by half of `extra_rtt_ms` in each direction, beyond the profile's distance.

    A resolver at another address than the edge's has the edge's distance.
    """
    edge_ms = 2 * _extra_one_way_ms(profile, RESOLVER_ADDRESS)
    extra_ms = extra_rtt_ms + edge_ms - 2 * _extra_one_way_ms(profile, address)
    return profile if extra_ms == 0 else _add_addresses(profile, {address: extra_ms})


def move_page(profile: LinkProfile, site: PageSite) -> LinkProfile:
    """Move a page's servers to the page's distances, beyond the profile's distance.

    A profile with the first network of pages far away applies to all networks. For names with a common address the
    nearest distance counts: the other names' round trips were longer by chance.
    """
    profile = _add_further_networks(profile, site)
    extra_ms: dict[str, float] = {}
    for origin in site.origins:
        own_ms = origin.serving.extra_rtt_ms
        extra_ms[origin.address] = min(own_ms, extra_ms.get(origin.address, own_ms))
    return _add_addresses(profile, {address: one_ms for address, one_ms in extra_ms.items() if one_ms > 0})


def resolver_rtt_ms(profile: LinkProfile) -> float:
    """Return the round trip time to the resolver, in ms, without queueing and transmission times."""
    return _rtt_ms(profile, RESOLVER_ADDRESS)


def page_rtt_ms(profile: LinkProfile, site: PageSite) -> float:
    """Return the mean round trip time to a page's names, in ms, without queueing and transmission times."""
    return fmean(_rtt_ms(profile, origin.address) for origin in site.origins)


def longest_rtt_ms(profile: LinkProfile) -> float:
    """Return the round trip time to the farthest server, in ms, without queueing and transmission times."""
    extra_ms = max((2 * one.extra_one_way_delay_ms for one in profile.far or []), default=0.0)
    return access_rtt_ms(profile) + extra_ms


def _add_addresses(profile: LinkProfile, extra_rtt_ms: dict[str, float]) -> LinkProfile:
    """Add entries for single addresses, with precedence over the current entries of these addresses."""
    if not extra_rtt_ms:
        return profile
    moved = [
        FarNetwork(network=f"{address}/32", extra_one_way_delay_ms=_extra_one_way_ms(profile, address) + extra_ms / 2)
        for address, extra_ms in extra_rtt_ms.items()
    ]
    replaced = {ipaddress.IPv4Network(one.network) for one in moved}
    others = [one for one in profile.far or [] if ipaddress.IPv4Network(one.network) not in replaced]
    return msgspec.structs.replace(profile, far=[*others, *moved])


def _add_further_networks(profile: LinkProfile, site: PageSite) -> LinkProfile:
    first = next((one for one in profile.far or [] if one.network == FIRST_NETWORK), None)
    within = ipaddress.IPv4Network(FIRST_NETWORK)
    if first is None or all(ipaddress.IPv4Address(origin.address) in within for origin in site.origins):
        return profile
    further = [msgspec.structs.replace(first, network=network) for network in _FURTHER_NETWORKS]
    return msgspec.structs.replace(profile, far=[*(profile.far or []), *further])


def _rtt_ms(profile: LinkProfile, address: str) -> float:
    return access_rtt_ms(profile) + 2 * _extra_one_way_ms(profile, address)


def _extra_one_way_ms(profile: LinkProfile, address: str) -> float:
    """Return the extra delay of an address, in ms, from the longest matching prefix."""
    single = ipaddress.IPv4Network(address)
    networks = ((ipaddress.IPv4Network(one.network), one) for one in profile.far or [])
    holding = [(network, one) for network, one in networks if single.subnet_of(network)]
    nearest = max(holding, key=lambda held: held[0].prefixlen, default=None)
    return nearest[1].extra_one_way_delay_ms if nearest is not None else 0.0
