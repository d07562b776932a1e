"""Which exchange answered by leading to which. Not for: who discovered the first of a chain (`parents`)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.pages.model import Kind
from resolab.recordings.recording import Exchange, Recording
from resolab.recordings.values import same_url

CHAIN_LIMIT = 20
"""Browsers follow no more (Fetch, HTTP-redirect fetch)."""
_PATIENCE_MS = 5_000.0
"""A target asked for later than this after its redirect was asked for by something else; a document's own is not."""
NOT_JOINED = "redirects that no request was joined to"
_EARLY_MS = 2.0
"""Starts are rounded, and of clocks of two processes."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Redirects with what they led to."""

    sources: dict[int, int]
    """The exchange that led to each target; both by place."""
    cut_count: int
    """Targets that came after more hops than browsers follow."""
    open_count: int
    """Redirects without a target."""


def redirect_sources(exchanges: Sequence[Exchange], recording: Recording) -> dict[int, int]:
    """Map each target to the exchange that led to it; both by place."""
    found = joined(exchanges)
    if found.cut_count:
        recording.lose(f"redirects beyond the {CHAIN_LIMIT} of a chain that browsers follow", found.cut_count)
    if found.open_count:
        recording.lose(NOT_JOINED, found.open_count)
    return found.sources


def joined(exchanges: Sequence[Exchange]) -> Joined:
    """Join redirects and targets.

    By request id where recorders give one (Chromium keeps it through a chain), else by URL, else by URL without its
    query, which recordings scrub.
    """
    last_of_id = {_id(one): place for place, one in enumerate(exchanges) if one.request_id is not None}
    waiting: list[int] = []
    sources: dict[int, int] = {}
    hops: dict[int, int] = defaultdict(int)
    cut_count = 0
    for place, exchange in enumerate(exchanges):
        if not exchange.is_preflight:
            found = _source(exchange, exchanges, waiting, last_of_id)
            if found is not None and hops[found] >= CHAIN_LIMIT:
                cut_count += 1
                found = None
            if found is not None:
                waiting.remove(found)
                sources[place] = found
                hops[place] = hops[found] + 1
        if exchange.is_redirect:
            waiting.append(place)
    return Joined(sources, cut_count, len(waiting))


def _source(
    exchange: Exchange, exchanges: Sequence[Exchange], waiting: Sequence[int], last_of_id: Mapping[str, int]
) -> int | None:
    by_id = [place for place in waiting if exchange.request_id and _id(exchange) == _id(exchanges[place])]
    if by_id:
        return by_id[-1]
    began_after = [
        place
        for place in waiting
        if exchange.start_ms - exchanges[place].first_byte_ms >= -_EARLY_MS
        and _may_be_followed(exchanges[place], place, exchange, last_of_id)
    ]
    in_time = [place for place in began_after if _is_in_time(exchanges[place], exchange)]
    own = [place for place in began_after if place == 0 or exchanges[place].kind is Kind.DOCUMENT]
    for places, same in ((in_time, str), (own, str), (in_time, _bare)):
        fitting = [place for place in places if same(exchanges[place].redirect_to or "") == same(exchange.url)]
        if fitting:
            return fitting[-1]
    return None


def _is_in_time(redirect: Exchange, target: Exchange) -> bool:
    return target.start_ms - redirect.first_byte_ms <= _PATIENCE_MS


def _may_be_followed(redirect: Exchange, place: int, target: Exchange, last_of_id: Mapping[str, int]) -> bool:
    """Tell if a request with another id may be the target.

    Where both have one it is another request, but that Chromium up to 57 followed redirects across origins under a new
    id, with an initiator that names nobody.
    """
    if redirect.request_id is None or target.request_id is None:
        return True
    names_nobody = target.initiator is None or (target.initiator.kind in {"other", ""} and target.initiator.url is None)
    return names_nobody and last_of_id[_id(redirect)] == place and redirect.redirect_to == target.url


def _id(one: Exchange) -> str:
    """Give an id that a chain keeps: chrome-har adds an r for each redirect."""
    return (one.request_id or "").rstrip("r")


def _bare(url: str) -> str:
    return same_url(url.partition("?")[0])
