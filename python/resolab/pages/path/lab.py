"""The graph's load time of a clone behind a profile: the closed form of `estimate`, with the lab's values.

For: the expected duration of a load, and differences between a model and a changed model. Pure. Not for: queues and
losses, absent here, and savings of names with a shared connection: each name has its own.

The closed form uses recorded round trips and transfers. In the lab round trips are the profile's, plus the extra
distance of a host. Bytes take the time of the profile's rate and a slow start; every host is asked over h2.
"""

from msgspec.structs import replace

from resolab.basics.records import LinkProfile
from resolab.pages.model import Host, PageModel, Resource
from resolab.pages.path.estimate import load_estimate

_WINDOW_BYTES = 14_480
"""Ten full packets: a connection's first flight (RFC 6928)."""


def lab_load_ms(model: PageModel, profile: LinkProfile) -> float:
    """Estimate a load of a model with its hosts in the lab, with name resolution over UDP."""
    return load_estimate(model, lookup_ms=_round_trip_ms(profile)).load_ms


def set_distances(model: PageModel, access_ms: float, *, apart: bool = True) -> PageModel:
    """Put the nearest host at the access network's end and the others as much farther as they were, or all there."""
    known = [one.round_trip_ms for one in model.hosts if one.round_trip_ms is not None]
    nearest_ms = min(known, default=0.0)
    beyond_ms = [(one.round_trip_ms or nearest_ms) - nearest_ms if apart else 0.0 for one in model.hosts]
    placed = (replace(one, round_trip_ms=access_ms + ms) for one, ms in zip(model.hosts, beyond_ms, strict=True))
    return replace(model, hosts=tuple(placed))


def move_to_lab(model: PageModel, profile: LinkProfile) -> PageModel:
    """Set the hosts' distances and the transfer times of the lab."""
    placed = set_distances(model, _round_trip_ms(profile)).hosts
    hosts = tuple(replace(one, protocols=("h2",)) for one in placed)
    resources = tuple(_resource_in_lab(one, hosts[one.host], profile) for one in model.resources)
    return replace(model, hosts=hosts, resources=resources)


def _resource_in_lab(one: Resource, host: Host, profile: LinkProfile) -> Resource:
    receive_ms = transfer_ms(one.wire_bytes, host.round_trip_ms or 0.0, profile.down.rate_bps)
    if one.first_byte_ms is None:
        return replace(one, receive_ms=receive_ms)
    # What held a script up is told by when things ended in the recording: that stays.
    return replace(one, receive_ms=receive_ms, first_byte_ms=one.first_byte_ms + one.receive_ms - receive_ms)


def transfer_ms(size_bytes: int, round_trip_ms: float, rate_bps: float | None) -> float:
    """Return a body's receive time: a round trip per flight after the first, each twice as large, plus the bits."""
    flights = 0
    while _WINDOW_BYTES * (2 ** (flights + 1) - 1) < size_bytes:
        flights += 1
    return flights * round_trip_ms + (size_bytes * 8_000 / rate_bps if rate_bps else 0.0)


def _round_trip_ms(profile: LinkProfile) -> float:
    return profile.up.one_way_delay_ms + profile.down.one_way_delay_ms
