"""How far the resolver is: a profile whose link puts the resolver's address, and no other, farther away.

For: pure changes of a profile, and the round trip they make. Not for: the link itself; its `far` tables do the rest.
"""

import ipaddress

import msgspec

from resolab.plan import access_rtt_ms
from resolab.records import FarNetwork, LinkProfile
from resolab.testbed.layout import RESOLVER_ADDRESS

RESOLVER_NETWORK = ipaddress.IPv4Network(RESOLVER_ADDRESS)


def with_resolver_at(profile: LinkProfile, extra_rtt_ms: float) -> LinkProfile:
    """Move the resolver away by half of `extra_rtt_ms` in each direction, beyond where the profile has it."""
    if extra_rtt_ms == 0:
        return profile
    others = [one for one in profile.far or [] if ipaddress.IPv4Network(one.network) != RESOLVER_NETWORK]
    moved = FarNetwork(
        network=str(RESOLVER_NETWORK), extra_one_way_delay_ms=_extra_one_way_ms(profile) + extra_rtt_ms / 2
    )
    return msgspec.structs.replace(profile, far=[*others, moved])


def resolver_rtt_ms(profile: LinkProfile) -> float:
    """Round trip to the resolver, without what queues and rates add."""
    return access_rtt_ms(profile) + 2 * _extra_one_way_ms(profile)


def longest_rtt_ms(profile: LinkProfile) -> float:
    """Round trip to the farthest server, without what queues and rates add."""
    extra_ms = max((2 * one.extra_one_way_delay_ms for one in profile.far or []), default=0.0)
    return access_rtt_ms(profile) + extra_ms


def _extra_one_way_ms(profile: LinkProfile) -> float:
    """Extra delay of the resolver's address: that of the longest prefix that holds it."""
    holding = [one for one in profile.far or [] if RESOLVER_NETWORK.subnet_of(ipaddress.IPv4Network(one.network))]
    nearest = max(holding, key=lambda one: ipaddress.IPv4Network(one.network).prefixlen, default=None)
    return nearest.extra_one_way_delay_ms if nearest is not None else 0.0
