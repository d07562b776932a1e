"""The box as seen from one of H20's five vantage points: how far home is from each resolver, and nothing else.

For: `places.toml`, read, and a layout moved to one of them. Pure but for reading. Not for: the box as it comes
(`standard`).

Distances in a box add up at its exchange, so that a resolver that is moved would be farther from everybody. Here only
the address that clients ask is: recursion leaves from a second address of its host, as near as before. Home is nearer
to the exchange than in the box as it comes, and whatever it asks is as much farther from there.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from resolab.errors import UsageError
from resolab.internet.layout import HOME, LOCAL, WEB, Host, Layout, Network, Resolver

FILE = Path(__file__).with_name("places.toml")


class Ping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A round trip between home and a resolver, and who says so."""

    rtt_ms: float
    source: str


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One vantage point."""

    name: str
    title: str
    """As the paper calls it."""
    pings: Mapping[str, Ping]
    """By the box's resolver; others are as far as ever."""


class _PlaceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    pings: dict[str, Ping]


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    home_one_way_ms: float
    stands_for: dict[str, str]
    local: Ping
    places: dict[str, _PlaceTable]


@cache
def places() -> Mapping[str, Place]:
    """Read all of them."""
    return {
        name: Place(name=name, title=one.title, pings={LOCAL: _file().local, **one.pings})
        for name, one in _file().places.items()
    }


def place_named(name: str) -> Place:
    """Find one."""
    if name not in places():
        raise UsageError(f"there is no place {name!r}; give one of {', '.join(places())}")
    return places()[name]


def stands_for() -> Mapping[str, str]:
    """Say which of the paper's resolvers each of the box's stands for."""
    return _file().stands_for


def seen_from(place: Place, layout: Layout) -> Layout:
    """Move a layout's home to a place."""
    home_ms = _file().home_one_way_ms
    nearer_ms = layout.host(HOME).one_way_ms - home_ms
    rtts_ms = {
        one.name: place.pings[one.name].rtt_ms if one.name in place.pings else layout.rtt_ms(HOME, one.address)
        for one in layout.resolvers
    }
    return msgspec.structs.replace(
        layout,
        place=place.name,
        hosts=tuple(_moved(host, home_ms, nearer_ms, rtts_ms.get(host.name), place) for host in layout.hosts),
        resolvers=tuple(_asking_from_beside(one) for one in layout.resolvers),
    )


def _moved(host: Host, home_ms: float, nearer_ms: float, rtt_ms: float | None, place: Place) -> Host:
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
    asked = Network(prefix=f"{host.address}/32", extra_one_way_ms=extra_ms)
    return msgspec.structs.replace(
        host, one_way_ms=one_way_ms, networks=(asked, Network(prefix=f"{_beside(host.address)}/32"))
    )


def _asking_from_beside(resolver: Resolver) -> Resolver:
    return msgspec.structs.replace(resolver, recursion_address=_beside(resolver.address))


def _beside(address: str) -> str:
    network, _, last = address.rpartition(".")
    return f"{network}.{int(last) + 1}"


@cache
def _file() -> _File:
    return msgspec.convert(tomllib.loads(FILE.read_text("utf-8")), _File)
