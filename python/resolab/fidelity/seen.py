"""A load of a clone as requests of its model: which were asked, when, and by whom.

For: URLs back to places, from what a browser told and from what the edge got. Not for: counting (`measures`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from resolab.pages.clone.names import host_name, place_of, resource_of
from resolab.pages.model import PageModel
from resolab.recordings.parents import discover
from resolab.recordings.recording import Recording
from resolab.recordings.redirects import redirect_sources
from resolab.records import EdgeRequestRecord

_PREFLIGHT = "OPTIONS"
_BY_BROWSERS = "/favicon.ico"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of the model as a browser made it."""

    start_ms: float
    """On the browser's clock, the same for all of a load."""
    parent: int | None
    """Place of who discovered it; none where the browser does not say."""


@dataclass(slots=True)
class Heard:
    """What a browser said of its load."""

    asked: dict[int, Asked] = field(default_factory=dict)
    """By place; the first of each."""
    names_scripts: bool = False
    """Whether it tells which script asked."""
    plt_ms: float | None = None


@dataclass(slots=True)
class Got:
    """What the edge was asked for."""

    counts: Counter[int] = field(default_factory=Counter)
    """Requests by place, preflights apart."""
    preflights_count: int = 0
    foreign: list[str] = field(default_factory=list)
    """URLs that are none of the clone's."""
    bytes_by_place: dict[int, int] = field(default_factory=dict)
    """Bytes of the body that were sent, of the first request of each."""


def heard_of(model: PageModel, recording: Recording) -> Heard:
    """Read a browser's account; only what of it is the clone's."""
    exchanges = sorted(recording.exchanges, key=lambda one: one.start_ms)
    exchanges = [one for one in exchanges if not one.is_preflight and resource_of(model, one.url) is not None]
    sources = redirect_sources(exchanges, recording)
    found = discover(exchanges, sources, recording.complete_ms, is_parser_sure=recording.is_parser_sure)
    heard = Heard(names_scripts=recording.async_stacks)
    for exchange, one in zip(exchanges, found, strict=True):
        place = place_of(exchange.url)
        parent = None if one.parent is None else place_of(exchanges[one.parent].url)
        if place is not None:
            heard.asked.setdefault(place, Asked(exchange.start_ms, parent))
    if recording.loaded_ms is not None and exchanges:
        heard.plt_ms = recording.loaded_ms - exchanges[0].start_ms
    return heard


def got_of(model: PageModel, records: Iterable[EdgeRequestRecord]) -> Got:
    """Read the edge's account."""
    hosts: Mapping[str, int] = {host_name(model, place): place for place in range(len(model.hosts))}
    got = Got()
    for one in sorted(records, key=lambda record: record.received_ns):
        host = hosts.get(one.authority.partition(":")[0])
        place = place_of(f"https://{one.authority}{one.path}")
        known = place is not None and place < len(model.resources) and model.resources[place].host == host
        if one.method == _PREFLIGHT:
            got.preflights_count += 1
        elif known and place is not None:
            got.counts[place] += 1
            got.bytes_by_place.setdefault(place, one.body_bytes)
        elif one.path != _BY_BROWSERS:
            got.foreign.append(f"https://{one.authority}{one.path}")
    return got
