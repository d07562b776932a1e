"""One generated page: the same seed and number give the same page, in any set of generated pages.

Not for: files (`pages.file`), or the published numbers (`published`).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.host_assignment import HostCapacity
from resolab.pages.generated.hosts import PlannedHost, draw_hosts
from resolab.pages.generated.late_requests import put_after_load
from resolab.pages.generated.published import ACCESS_NETWORK
from resolab.pages.generated.request_forms import RequestForm, draw_manners
from resolab.pages.generated.request_kinds import draw_items
from resolab.pages.generated.sizes import BodySizes, draw_bodies
from resolab.pages.generated.timeline import GeneratedInstants, Timeline, draw_timeline
from resolab.pages.generated.totals import Totals, draw_totals
from resolab.pages.generated.tree import Node, grow
from resolab.pages.model import Cors, Discovery, Evidence, Host, Loss, PageModel, Resource, Source

METHOD = 1
"""The version of the method, raised with every change of the pages for a seed."""
_DIGITS = 3
_NUMBER_DIGITS = 4
_H1_CONNECTIONS_MAX = 6
"""The largest number of HTTP/1.1 connections of browsers to one host."""
_LOSS = Loss(f"instants by measurement (generated: an estimate on the {ACCESS_NETWORK} network)", 0)


def format_name(seed: int, number: int, hosts: int | None = None) -> str:
    """Return the name of a generated page."""
    told = "" if hosts is None else f"h{hosts}-"
    return f"generated-{seed}-{told}{number:0{_NUMBER_DIGITS}}"


def generate(seed: int, number: int, *, hosts: int | None = None, requests: int | None = None) -> PageModel:
    """Make a page; given a number of hosts or requests, draw from pages with this number."""

    def chance(part: str) -> UniformStream:
        return UniformStream("resolab", "page", METHOD, seed, number, part)

    totals = draw_totals(chance("totals"), hosts=hosts, requests=requests)
    planned = draw_hosts(chance("hosts"), totals)
    nodes = grow(chance("tree"), totals, draw_items(chance("items"), totals), HostCapacity(planned))
    put_after_load(chance("after"), nodes)
    manners = draw_manners(chance("manners"), nodes)
    bodies = draw_bodies(chance("sizes"), nodes, manners, totals.wire_bytes)
    timeline = draw_timeline(chance("times"), nodes, manners, bodies, planned)
    return _model(format_name(seed, number, hosts), nodes, planned, manners, bodies, timeline)


def serves(seed: int, number: int, *, hosts: int | None = None, requests: int | None = None) -> Totals:
    """Return the drawn totals of a page, without making the page."""
    return draw_totals(UniformStream("resolab", "page", METHOD, seed, number, "totals"), hosts=hosts, requests=requests)


def _model(
    name: str,
    nodes: Sequence[Node],
    planned: Sequence[PlannedHost],
    manners: Sequence[RequestForm],
    bodies: Sequence[BodySizes],
    timeline: Timeline,
) -> PageModel:
    order = sorted(range(len(nodes)), key=lambda place: (timeline.instants[place].start_ms, place))
    places = {place: new for new, place in enumerate(order)}
    host_places = {host: new for new, host in enumerate(dict.fromkeys(nodes[place].host for place in order))}
    resources = tuple(
        _resource(nodes[place], manners[place], bodies[place], timeline.instants[place], places, host_places)
        for place in order
    )
    return PageModel(
        name=name,
        source=Source(
            form="generated",
            creator=f"resolab page generate, method {METHOD}",
            initiators=True,
            async_stacks=True,
        ),
        hosts=_hosts([planned[host] for host in host_places], resources),
        resources=resources,
        load_ms=round(timeline.load_ms, _DIGITS),
        dom_content_loaded_ms=round(timeline.dom_content_loaded_ms, _DIGITS),
        losses=(_LOSS,),
    )


def _resource(
    node: Node,
    manner: RequestForm,
    body: BodySizes,
    own: GeneratedInstants,
    places: Mapping[int, int],
    host_places: Mapping[int, int],
) -> Resource:
    return Resource(
        host=host_places[node.host],
        kind=node.kind,
        discovery=node.discovery,
        evidence=Evidence.REDIRECT if node.discovery is Discovery.REDIRECT else Evidence.INITIATOR,
        parent=None if node.parent is None else places[node.parent],
        frame=0 if node.parent is None else places[node.frame],
        start_ms=round(own.start_ms, _DIGITS),
        due_ms=None if own.due_ms is None else round(own.due_ms, _DIGITS),
        place=None if own.place is None else round(own.place, _DIGITS),
        method=manner.method,
        status=manner.status,
        wire_bytes=body.wire_bytes,
        raw_bytes=body.raw_bytes,
        request_bytes=manner.request_bytes,
        server_time_ms=round(own.server_time_ms, _DIGITS),
        first_byte_ms=round(own.first_byte_ms, _DIGITS),
        receive_ms=round(own.end_ms - own.first_byte_ms, _DIGITS),
        priority=manner.priority,
        script_mode=manner.script_mode if node.discovery is Discovery.DOCUMENT else None,
        preload=node.is_preload,
        cors=manner.cors,
        preflight=manner.preflight,
        after_load=node.is_after_load,
    )


def _hosts(planned: Sequence[PlannedHost], resources: Sequence[Resource]) -> tuple[Host, ...]:
    """Describe hosts in the order of their first request, with groups numbered in this order; site 0 stays."""
    counts = Counter(one.host for one in resources)
    modes: dict[int, set[bool]] = defaultdict(set)
    for one in resources:
        modes[one.host].add(one.cors is Cors.ANONYMOUS)
    own = [host.site for host in planned if host.site == 0]
    sites = _numbers([*own[:1], *(host.site for host in planned)])
    addresses, certificates = (
        _numbers([host.address_group for host in planned]),
        _numbers([host.certificate for host in planned]),
    )
    return tuple(
        Host(
            site=sites[host.site],
            protocols=_protocols(host, counts[place]),
            address_group=addresses[host.address_group],
            certificate=certificates[host.certificate],
            alt_svc=host.offers_h3,
            https_record=host.has_https_record,
            round_trip_ms=round(host.round_trip_ms, _DIGITS),
            connection_count=min(counts[place], _H1_CONNECTIONS_MAX) if host.is_h1 else len(modes[place]),
        )
        for place, host in enumerate(planned)
    )


def _numbers(groups: Sequence[int]) -> dict[int, int]:
    return {group: number for number, group in enumerate(dict.fromkeys(groups))}


def _protocols(host: PlannedHost, requests: int) -> tuple[str, ...]:
    """Return the versions seen by a browser: HTTP/3 at once with an HTTPS record, else from the second connection."""
    if host.is_h1:
        return ("h1",)
    if host.has_https_record:
        return ("h3",)
    return ("h2", "h3") if host.offers_h3 and requests > 1 else ("h2",)
