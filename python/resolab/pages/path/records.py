"""One trial's records as the instants of its measured load, by places in the page's model.

For: loads of clones, whose URLs say their places (`clone.names`). Pure. Not for: pages without a model; nothing says
who discovered whom there.

A page's own account (Resource Timing) knows the requests of its own document, not those of frames, and gives a chain of
redirects as one request from the first one's start to the last one's end. What it leaves out the server's records tell
from the request's arrival on: such requests are marked, and half a round trip is taken off and added.
"""

from collections.abc import Iterable, Mapping

import msgspec

from resolab.pages.clone.names import place_of, resource_of
from resolab.pages.model import Discovery, PageModel
from resolab.pages.path.load import LoadInstants, RequestInstants, Teller
from resolab.records import (
    BrowserName,
    EdgeRequestRecord,
    PageFailure,
    PageLoadRecord,
    Record,
    ResourceRecord,
    TrialEndRecord,
    TrialFlag,
    TrialRecord,
)
from resolab.urls import split_url

_NS = 1_000_000
_PROTOCOLS = {"http/1.1": "h1", "http/1.0": "h1"}


def instants_of(model: PageModel, records: Iterable[Record], round_trip_ms: float = 0.0) -> LoadInstants | None:
    """Read the measured load; none if it failed or had no load event, or no request of it is one of the model's.

    A load that lacks a part of its page is shorter for what it lacks, so its load event says nothing.
    `round_trip_ms` is the access network's, for what only the server told.
    """
    kept = list(records)
    load = measured_load(kept)
    if load is None or load.plt_ms is None or failure_of(kept) is not None:
        return None
    told = _told_by_browser(model, kept)
    if load.browser == BrowserName.FIREFOX:
        told = _with_firefox_look_ups(model, told)
    if not told:
        return None
    served = _told_by_server(model, kept, load, round_trip_ms / 2)
    requests = served | _without_folds(model, told, served)
    return LoadInstants(load_ms=load.plt_ms, requests=dict(sorted(requests.items())))


def measured_load(records: Iterable[Record]) -> PageLoadRecord | None:
    """Return the trial's measured load, if it had one."""
    return next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)


def failure_of(records: Iterable[Record]) -> str | None:
    """Return why the measured load failed; before format 1.8 only the trial's flag says that a load is incomplete."""
    kept = list(records)
    load = measured_load(kept)
    if load is None or load.failure is not None:
        return None if load is None else load.failure
    flags = (one.flags for one in kept if isinstance(one, TrialEndRecord))
    return PageFailure.INCOMPLETE if any(TrialFlag.RESOURCES_MISSING in some for some in flags) else None


def navigation_ns(records: Iterable[Record], load: PageLoadRecord | None) -> int | None:
    """Put the load's navigationStart on the clock of the server's records: both are of one machine."""
    head = next((one for one in records if isinstance(one, TrialRecord)), None)
    if head is None or load is None or load.navigation_start_unix_ms is None:
        return None
    # Browsers tell it to the microsecond; a float of nanoseconds since 1970 would be some hundred off.
    return round(load.navigation_start_unix_ms * 1_000) * 1_000 - (head.wall_time_unix_ns - head.monotonic_ns)


def _told_by_browser(model: PageModel, records: Iterable[Record]) -> dict[int, RequestInstants]:
    told: dict[int, RequestInstants] = {}
    for one in records:
        if isinstance(one, ResourceRecord) and (place := _place(model, one.url)) is not None and place not in told:
            told[place] = RequestInstants(
                start_ms=one.start_ms,
                dns_start_ms=one.domain_lookup_start_ms,
                dns_end_ms=one.domain_lookup_end_ms,
                connect_start_ms=one.connect_start_ms,
                secure_start_ms=one.secure_connection_start_ms,
                connect_end_ms=one.connect_end_ms,
                request_start_ms=one.request_start_ms,
                response_start_ms=one.response_start_ms,
                response_end_ms=one.response_end_ms,
                protocol=_PROTOCOLS.get(one.next_hop_protocol or "", one.next_hop_protocol),
            )
    return told


def _with_firefox_look_ups(model: PageModel, told: Mapping[int, RequestInstants]) -> dict[int, RequestInstants]:
    """Let a host's first look-up begin with its request.

    Firefox waits for the HTTPS record before what it calls the look-up, and finds the addresses there by then
    (`records.look_up`); on later connections of a host it knows them.
    """
    found = dict(told)
    looked_up: set[int] = set()
    for place, one in sorted(told.items(), key=lambda item: item[1].start_ms):
        host = model.resources[place].host
        connects = one.dns_end_ms is not None and (one.connect_end_ms or 0.0) > (one.connect_start_ms or 0.0)
        if connects and host not in looked_up:
            looked_up.add(host)
            found[place] = msgspec.structs.replace(one, dns_start_ms=one.start_ms)
    return found


def _place(model: PageModel, url: str) -> int | None:
    return place_of(url) if resource_of(model, url) is not None else None


def _told_by_server(
    model: PageModel, records: Iterable[Record], load: PageLoadRecord, way_ms: float
) -> dict[int, RequestInstants]:
    """Put the server's instants on the browser's clock."""
    kept = list(records)
    began_ns = navigation_ns(kept, load)
    if began_ns is None:
        return {}
    told: dict[int, RequestInstants] = {}
    for one in kept:
        if not isinstance(one, EdgeRequestRecord) or one.received_ns < began_ns or one.method == "OPTIONS":
            continue
        place = _place(model, f"https://{split_url(f'//{one.authority}').hostname}{one.path}")
        if place is not None and place not in told:
            told[place] = _served(one, began_ns, way_ms)
    return told


def _served(one: EdgeRequestRecord, began_ns: int, way_ms: float) -> RequestInstants:
    sent, received = one.response_sent_ns, (one.received_ns - began_ns) / _NS - way_ms
    first = one.first_body_byte_ns or sent
    return RequestInstants(
        start_ms=max(0.0, received),
        request_start_ms=max(0.0, received),
        response_start_ms=None if first is None else (first - began_ns) / _NS + way_ms,
        response_end_ms=None if sent is None else (sent - began_ns) / _NS + way_ms,
        protocol=one.http_version.value,
        teller=Teller.SERVER,
    )


def _without_folds(
    model: PageModel, told: Mapping[int, RequestInstants], served: Mapping[int, RequestInstants]
) -> dict[int, RequestInstants]:
    """Give the phases of a chain of redirects, told as one request, to its last, and the time before to its first."""
    targets = {one.parent: place for place, one in enumerate(model.resources) if one.discovery is Discovery.REDIRECT}
    found: dict[int, RequestInstants] = {}
    for place, one in told.items():
        hops = [_first_hop(model, place, told)]
        while (target := targets.get(hops[-1])) is not None and (target == place or target not in told):
            hops.append(target)
        if len(hops) == 1:
            found[place] = one
            continue
        own_ms = _own_start_ms(one)
        next_ms = served[hops[1]].start_ms if len(hops) > 2 and hops[1] in served else own_ms
        found[hops[0]] = RequestInstants(start_ms=one.start_ms, response_end_ms=next_ms, protocol=one.protocol)
        found[hops[-1]] = msgspec.structs.replace(one, start_ms=own_ms)
    return found


def _first_hop(model: PageModel, place: int, told: Mapping[int, RequestInstants]) -> int:
    while model.resources[place].discovery is Discovery.REDIRECT:
        parent = model.resources[place].parent
        if parent is None or parent in told:
            break
        place = parent
    return place


def _own_start_ms(one: RequestInstants) -> float:
    """When the last request of a chain began: its first phase that took time, as fetchStart is not recorded."""
    for at in (one.dns_start_ms, one.connect_start_ms, one.request_start_ms):
        if at is not None and at > one.start_ms:
            return at
    return one.start_ms
