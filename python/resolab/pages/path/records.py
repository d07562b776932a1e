"""One trial's records as the instants of its measured load, by indices in the page's model.

For: loads of clones, with the index of a request in its URL (`clone.names`). Pure. Not for: pages without a model, and
so without known discoverers.

A page's own account (Resource Timing) has the requests of its own document, without those of frames. The account gives
a chain of redirects as one request from the start of the first to the end of the last. The server's records supply
missing requests from the request's arrival on: these requests are marked, and half a round trip is subtracted and
added.
"""

from collections.abc import Iterable, Mapping

import msgspec

from resolab.basics.records import (
    BrowserKind,
    EdgeRequestRecord,
    PageFailure,
    PageLoadRecord,
    Record,
    ResourceRecord,
    TrialEndRecord,
    TrialFlag,
    TrialRecord,
)
from resolab.basics.urls import split_url
from resolab.pages.clone.names import find_resource, parse_request_index
from resolab.pages.model import Discovery, PageModel
from resolab.pages.path.load import InstantSource, LoadTimeline, RequestInstants

_NS = 1_000_000
_PROTOCOLS = {"http/1.1": "h1", "http/1.0": "h1"}


def read_instants(model: PageModel, records: Iterable[Record], round_trip_ms: float = 0.0) -> LoadTimeline | None:
    """Read the measured load; `None` after a failure, without load event, or without a request of the model.

    A load with missing parts of its page is shorter, so its load event says nothing. `round_trip_ms` is the access
    network's, for requests known only from the server.
    """
    kept = list(records)
    load = find_measured_load(kept)
    if load is None or load.plt_ms is None or find_failure(kept) is not None:
        return None
    told = _read_browser_instants(model, kept)
    if (load.browser_kind or load.browser) == BrowserKind.FIREFOX:
        told = _extend_firefox_look_ups(model, told)
    if not told:
        return None
    served = _read_server_instants(model, kept, load, round_trip_ms / 2)
    requests = served | _unfold_redirects(model, told, served)
    return LoadTimeline(load_ms=load.plt_ms, requests=dict(sorted(requests.items())))


def find_measured_load(records: Iterable[Record]) -> PageLoadRecord | None:
    """Return the trial's measured load, or `None` without a measured load."""
    return next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)


def find_failure(records: Iterable[Record]) -> str | None:
    """Return the failure of the measured load; before format 1.8 only the trial's flag marks an incomplete load."""
    kept = list(records)
    load = find_measured_load(kept)
    if load is None or load.failure is not None:
        return None if load is None else load.failure
    flags = (one.flags for one in kept if isinstance(one, TrialEndRecord))
    return PageFailure.INCOMPLETE if any(TrialFlag.RESOURCES_MISSING in some for some in flags) else None


def navigation_ns(records: Iterable[Record], load: PageLoadRecord | None) -> int | None:
    """Return the load's navigationStart on the clock of the server's records: both clocks are of one machine."""
    head = next((one for one in records if isinstance(one, TrialRecord)), None)
    if head is None or load is None or load.navigation_start_unix_ms is None:
        return None
    # Browsers tell it to the microsecond; a float of nanoseconds since 1970 would be some hundred off.
    return round(load.navigation_start_unix_ms * 1_000) * 1_000 - (head.wall_time_unix_ns - head.monotonic_ns)


def _read_browser_instants(model: PageModel, records: Iterable[Record]) -> dict[int, RequestInstants]:
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


def _extend_firefox_look_ups(model: PageModel, told: Mapping[int, RequestInstants]) -> dict[int, RequestInstants]:
    """Let a host's first look-up begin with its request.

    Firefox waits for the HTTPS record before its domainLookupStart; by then the addresses have arrived
    (`records.look_up`). On later connections of a host the addresses are known.
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
    return parse_request_index(url) if find_resource(model, url) is not None else None


def _read_server_instants(
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
            told[place] = _convert_server_record(one, began_ns, way_ms)
    return told


def _convert_server_record(one: EdgeRequestRecord, began_ns: int, way_ms: float) -> RequestInstants:
    sent, received = one.response_sent_ns, (one.received_ns - began_ns) / _NS - way_ms
    first = one.first_body_byte_ns or sent
    return RequestInstants(
        start_ms=max(0.0, received),
        request_start_ms=max(0.0, received),
        response_start_ms=None if first is None else (first - began_ns) / _NS + way_ms,
        response_end_ms=None if sent is None else (sent - began_ns) / _NS + way_ms,
        protocol=one.http_version.value,
        teller=InstantSource.SERVER,
    )


def _unfold_redirects(
    model: PageModel, told: Mapping[int, RequestInstants], served: Mapping[int, RequestInstants]
) -> dict[int, RequestInstants]:
    """Give the phases of a merged chain of redirects to the last request, and the time before to the first."""
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
    """Return the start of a chain's last request: its first phase with a duration, as fetchStart is not recorded."""
    for at in (one.dns_start_ms, one.connect_start_ms, one.request_start_ms):
        if at is not None and at > one.start_ms:
            return at
    return one.start_ms
