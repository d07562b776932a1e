"""Zone files of the box, and the root hints of its resolvers. Pure.

For: the input of authoritative servers and recursive resolvers (RFC 1035 section 5). Not for: the choice of zones
(`standard`, `sites`, `failures`), or the servers' own configuration (`servers`).
"""

from collections.abc import Iterator

from resolab.extras.internet.layout import DAY_S, BoxLayout, Zone

NEGATIVE_TTL_S = 60
"""The TTL of "no such name" and "no such record", in s (RFC 2308)."""


def zone_file(layout: BoxLayout, zone: Zone) -> str:
    """Write a zone: its start, its server, its records, and the referrals to its children."""
    times = f"3600 600 {30 * DAY_S} {NEGATIVE_TTL_S}"
    lines = [
        f"$TTL {DAY_S}",
        f"{_absolute(zone.origin)} IN SOA {_absolute(zone.server_name)} hostmaster.invalid. 1 {times}",
        *_referral(layout, zone),
        *(f"{_absolute(one.owner)} {one.ttl_s} IN {one.kind} {one.value}" for one in zone.records),
    ]
    for child in layout.zones:
        if child.origin and find_parent(child.origin) == zone.origin:
            lines += _referral(layout, child)
    return "\n".join(lines) + "\n"


def root_hints(layout: BoxLayout) -> str:
    """Write the root's name server and address."""
    root = next(zone for zone in layout.zones if not zone.origin)
    return "\n".join(_referral(layout, root)) + "\n"


def find_parent(origin: str) -> str:
    """Return the zone above; every zone has one label more than its parent."""
    return origin.partition(".")[2]


def find_zone(layout: BoxLayout, name: str) -> Zone:
    """Find the closest zone around a name."""
    origins = {zone.origin: zone for zone in layout.zones}
    labels = name.rstrip(".").lower().split(".")
    return next(origins[origin] for n in range(len(labels) + 1) if (origin := ".".join(labels[n:])) in origins)


def _referral(layout: BoxLayout, zone: Zone) -> Iterator[str]:
    name = _absolute(zone.server_name)
    yield f"{_absolute(zone.origin)} {DAY_S} IN NS {name}"
    yield f"{name} {DAY_S} IN A {layout.server_address(zone.server)}"


def _absolute(name: str) -> str:
    return f"{name}."
