"""The redirects among the exchanges, with their targets. Not for: the discoverer of a chain's first (`discoverers`)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.extras.recordings.recording import RecordedExchange, Recording
from resolab.extras.recordings.values import same_url
from resolab.pages.model import Kind

CHAIN_LIMIT = 20
"""The longest chain followed by browsers (Fetch, HTTP-redirect fetch)."""
_PATIENCE_MS = 5_000.0
"""The longest wait for a target, in ms after its redirect; a document's own target may come later."""
NOT_JOINED = "redirects that no request was joined to"
_EARLY_MS = 2.0
"""Starts are rounded, and of clocks of two processes."""


@dataclass(frozen=True, slots=True)
class RedirectJoin:
    """Redirects with their targets."""

    sources: dict[int, int]
    """The redirect before each target; both by index."""
    cut_count: int
    """Number of targets after more hops than browsers follow."""
    open_count: int
    """Redirects without a target."""


def redirect_sources(exchanges: Sequence[RecordedExchange], recording: Recording) -> dict[int, int]:
    """Map each target to the redirect before it; both by index."""
    found = join_redirects(exchanges)
    if found.cut_count:
        recording.lose(f"redirects beyond the {CHAIN_LIMIT} of a chain that browsers follow", found.cut_count)
    if found.open_count:
        recording.lose(NOT_JOINED, found.open_count)
    return found.sources


def join_redirects(exchanges: Sequence[RecordedExchange]) -> RedirectJoin:
    """Join redirects and targets.

    The join is by request id if recorded (Chromium keeps the id through a chain), else by URL, else by URL without the
    query, as recordings scrub queries.
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
    return RedirectJoin(sources, cut_count, len(waiting))


def _source(
    exchange: RecordedExchange,
    exchanges: Sequence[RecordedExchange],
    waiting: Sequence[int],
    last_of_id: Mapping[str, int],
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


def _is_in_time(redirect: RecordedExchange, target: RecordedExchange) -> bool:
    return target.start_ms - redirect.first_byte_ms <= _PATIENCE_MS


def _may_be_followed(
    redirect: RecordedExchange, place: int, target: RecordedExchange, last_of_id: Mapping[str, int]
) -> bool:
    """Return True when a request with another id may be the target.

    With two ids the requests are separate, except in Chromium up to 57. There, redirects across origins were followed
    under a new id, with an initiator without a name.
    """
    if redirect.request_id is None or target.request_id is None:
        return True
    names_nobody = target.initiator is None or (target.initiator.kind in {"other", ""} and target.initiator.url is None)
    return names_nobody and last_of_id[_id(redirect)] == place and redirect.redirect_to == target.url


def _id(one: RecordedExchange) -> str:
    """Return the id common to a chain: chrome-har adds an r for each redirect."""
    return (one.request_id or "").rstrip("r")


def _bare(url: str) -> str:
    return same_url(url.partition("?")[0])
