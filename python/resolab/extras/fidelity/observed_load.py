"""A load of a clone as requests of its model: the requested resources, their times and their discoverers.

For: mapping URLs to positions, from the browser's and the edge's account. Not for: counting (`measures`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from resolab.basics.records import EdgeRequestRecord
from resolab.extras.recordings.inference.discoverers import discover
from resolab.extras.recordings.inference.redirects import redirect_sources
from resolab.extras.recordings.recording import Recording
from resolab.pages.clone.names import find_resource, host_name, parse_request_index
from resolab.pages.model import PageModel

_PREFLIGHT = "OPTIONS"
_BY_BROWSERS = "/favicon.ico"


@dataclass(frozen=True, slots=True)
class RequestStart:
    """One of the model's requests as made by a browser."""

    start_ms: float
    """On the browser's clock, the same for all of a load."""
    parent: int | None
    """The discoverer's position; `None` when the browser does not report the discoverer."""


@dataclass(slots=True)
class BrowserAccount:
    """The browser's account of its load."""

    asked: dict[int, RequestStart] = field(default_factory=dict)
    """By place; the first of each."""
    names_scripts: bool = False
    """True when the browser names the requesting script."""
    plt_ms: float | None = None


@dataclass(slots=True)
class EdgeAccount:
    """The requests received by the edge."""

    counts: Counter[int] = field(default_factory=Counter)
    """Requests by place, preflights apart."""
    preflights_count: int = 0
    foreign: list[str] = field(default_factory=list)
    """URLs outside the clone."""
    bytes_by_place: dict[int, int] = field(default_factory=dict)
    """Body bytes sent in response to the first request, by position."""


def read_account(model: PageModel, recording: Recording) -> BrowserAccount:
    """Read the browser's account, limited to the clone's resources."""
    exchanges = sorted(recording.exchanges, key=lambda one: one.start_ms)
    exchanges = [one for one in exchanges if not one.is_preflight and find_resource(model, one.url) is not None]
    sources = redirect_sources(exchanges, recording)
    found = discover(exchanges, sources, recording.complete_ms, is_parser_sure=recording.is_parser_sure)
    heard = BrowserAccount(names_scripts=recording.async_stacks)
    for exchange, one in zip(exchanges, found, strict=True):
        place = parse_request_index(exchange.url)
        parent = None if one.parent is None else parse_request_index(exchanges[one.parent].url)
        if place is not None:
            heard.asked.setdefault(place, RequestStart(exchange.start_ms, parent))
    if recording.loaded_ms is not None and exchanges:
        heard.plt_ms = recording.loaded_ms - exchanges[0].start_ms
    return heard


def read_edge_account(model: PageModel, records: Iterable[EdgeRequestRecord]) -> EdgeAccount:
    """Read the edge's account of the requests."""
    hosts: Mapping[str, int] = {host_name(model, place): place for place in range(len(model.hosts))}
    got = EdgeAccount()
    for one in sorted(records, key=lambda record: record.received_ns):
        host = hosts.get(one.authority.partition(":")[0])
        place = parse_request_index(f"https://{one.authority}{one.path}")
        known = place is not None and place < len(model.resources) and model.resources[place].host == host
        if one.method == _PREFLIGHT:
            got.preflights_count += 1
        elif known and place is not None:
            got.counts[place] += 1
            got.bytes_by_place.setdefault(place, one.body_bytes)
        elif one.path != _BY_BROWSERS:
            got.foreign.append(f"https://{one.authority}{one.path}")
    return got
