"""Page models and loads for tests of paths, made in few words."""

from typing import Any

from resolab.pages.model import Discovery, Evidence, Host, Kind, PageModel, Resource, Source
from resolab.pages.path import LoadTimeline, RequestInstants

MARKUP, SCRIPT, SHEET = Discovery.DOCUMENT, Discovery.SCRIPT, Discovery.STYLESHEET


def request(parent: int | None = 0, discovery: Discovery = MARKUP, kind: Kind = Kind.IMAGE, **more: Any) -> Resource:
    fields = {"host": 0, "evidence": Evidence.INITIATOR, "start_ms": 0.0}
    return Resource(**fields | {"parent": parent, "discovery": discovery, "kind": kind} | more)


def document(**more: Any) -> Resource:
    return request(None, Discovery.NAVIGATION, Kind.DOCUMENT, **more)


def model(*resources: Resource, hosts: int = 1, **of_host: Any) -> PageModel:
    described = tuple(Host(site=number, **of_host) for number in range(hosts))
    return PageModel(name="made", source=Source(form="har"), hosts=described, resources=resources)


def load(load_ms: float, *requests: RequestInstants | None) -> LoadTimeline:
    told = {place: one for place, one in enumerate(requests) if one is not None}
    return LoadTimeline(load_ms=load_ms, requests=told)


def told(start: float, *, dns: float = 0, tcp: float = 0, tls: float = 0, wait: float = 0, receive: float = 0, queue: float = 0, protocol: str = "h2") -> RequestInstants:  # fmt: skip
    """Make the instants of a request whose phases follow each other; what took no time is as a browser tells it."""
    looked_up = start + queue
    connecting = looked_up + dns
    secure = connecting + tcp
    sent = secure + tls
    return RequestInstants(
        start_ms=start,
        dns_start_ms=looked_up,
        dns_end_ms=connecting,
        connect_start_ms=connecting,
        secure_start_ms=secure,
        connect_end_ms=sent,
        request_start_ms=sent,
        response_start_ms=sent + wait,
        response_end_ms=sent + wait + receive,
        protocol=protocol,
    )
