"""The box seen from one of five published vantage points: only home's distance to each resolver changes.

For: `places.toml`, read, and a layout moved to a vantage point. Pure except for reading. Not for: the standard box
(`standard`).

Distances in a box add up at its exchange, so a moved resolver would be farther from every host. Only the resolver's
address for clients is moved: recursion leaves from a second address of the host, at the old distance. Home is nearer to
the exchange than in the standard box, and other contacted hosts are farther from the exchange by the same amount.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from resolab.basics.errors import UsageError
from resolab.extras.internet.layout import HOME, LOCAL, WEB, BoxHost, BoxLayout, BoxResolver, HostNetwork

FILE = Path(__file__).with_name("places.toml")


class PingDistance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A round trip time between home and a resolver, with its source."""

    rtt_ms: float
    source: str


class VantagePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A vantage point of a published study."""

    name: str
    title: str
    """The name of the vantage point in the paper."""
    pings: Mapping[str, PingDistance]
    """The round trip times by the box's resolver; other resolvers keep their distance."""


class _PlaceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    pings: dict[str, PingDistance]


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    home_one_way_ms: float
    stands_for: dict[str, str]
    local: PingDistance
    places: dict[str, _PlaceTable]


@cache
def places() -> Mapping[str, VantagePoint]:
    """Read all vantage points."""
    return {
        name: VantagePoint(name=name, title=one.title, pings={LOCAL: _file().local, **one.pings})
        for name, one in _file().places.items()
    }


def find_vantage_point(name: str) -> VantagePoint:
    """Find a vantage point by name."""
    if name not in places():
        raise UsageError(f"there is no place {name!r}; give one of {', '.join(places())}")
    return places()[name]


def map_to_paper() -> Mapping[str, str]:
    """Return the corresponding resolver in the paper for each resolver of the box."""
    return _file().stands_for


def move_home(place: VantagePoint, layout: BoxLayout) -> BoxLayout:
    """Move a layout's home to a vantage point."""
    home_ms = _file().home_one_way_ms
    nearer_ms = layout.host(HOME).one_way_ms - home_ms
    rtts_ms = {
        one.name: place.pings[one.name].rtt_ms if one.name in place.pings else layout.rtt_ms(HOME, one.address)
        for one in layout.resolvers
    }
    return msgspec.structs.replace(
        layout,
        place=place.name,
        hosts=tuple(_move_host(host, home_ms, nearer_ms, rtts_ms.get(host.name), place) for host in layout.hosts),
        resolvers=tuple(_set_recursion_address(one) for one in layout.resolvers),
    )


def _move_host(host: BoxHost, home_ms: float, nearer_ms: float, rtt_ms: float | None, place: VantagePoint) -> BoxHost:
    if host.name == HOME:
        return msgspec.structs.replace(host, one_way_ms=home_ms)
    if host.name == WEB:
        # Home alone asks it.
        return msgspec.structs.replace(host, one_way_ms=round(host.one_way_ms + nearer_ms, 6))
    if rtt_ms is None:
        return host
    # Those with pings stand at the exchange: recursion is the same from wherever they are asked.
    one_way_ms = 0.0 if host.name in place.pings else host.one_way_ms
    extra_ms = round(rtt_ms / 2 - home_ms - one_way_ms, 6)
    if extra_ms < 0:
        raise ValueError(f"{host.name} is nearer to {place.name} than home is to the exchange")
    asked = HostNetwork(prefix=f"{host.address}/32", extra_one_way_ms=extra_ms)
    return msgspec.structs.replace(
        host, one_way_ms=one_way_ms, networks=(asked, HostNetwork(prefix=f"{_compute_next_address(host.address)}/32"))
    )


def _set_recursion_address(resolver: BoxResolver) -> BoxResolver:
    return msgspec.structs.replace(resolver, recursion_address=_compute_next_address(resolver.address))


def _compute_next_address(address: str) -> str:
    network, _, last = address.rpartition(".")
    return f"{network}.{int(last) + 1}"


@cache
def _file() -> _File:
    return msgspec.convert(tomllib.loads(FILE.read_text("utf-8")), _File)
