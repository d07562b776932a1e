"""Which exchange answered by leading to which. Not for: who discovered the first of a chain (`parents`)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from resolab.recordings.recording import Exchange, Recording
from resolab.recordings.values import same_url

CHAIN_LIMIT = 20
"""Browsers follow no more (Fetch, HTTP-redirect fetch)."""
_PATIENCE_MS = 5_000.0
"""A target asked for later than this after its redirect was asked for by something else."""
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
        recording.lose("redirects whose target was not recorded", found.open_count)
    return found.sources


def joined(exchanges: Sequence[Exchange]) -> Joined:
    """Join redirects and targets.

    By request id where recorders give one (Chromium keeps it through a chain), else by URL, else by URL without its
    query, which recordings scrub.
    """
    waiting: list[int] = []
    sources: dict[int, int] = {}
    hops: dict[int, int] = defaultdict(int)
    cut_count = 0
    for place, exchange in enumerate(exchanges):
        if not exchange.is_preflight:
            found = _source(exchange, exchanges, waiting)
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


def _source(exchange: Exchange, exchanges: Sequence[Exchange], waiting: Sequence[int]) -> int | None:
    with_id = [place for place in waiting if _is_same_request(exchange, exchanges[place])]
    if with_id:
        return with_id[-1]
    in_time = [
        place
        for place in waiting
        if -_EARLY_MS <= exchange.start_ms - exchanges[place].first_byte_ms <= _PATIENCE_MS
        # Where both have an id, another id is another request.
        and None in {exchange.request_id, exchanges[place].request_id}
    ]
    for same in (str, _bare):
        fitting = [place for place in in_time if same(exchanges[place].redirect_to or "") == same(exchange.url)]
        if fitting:
            return fitting[-1]
    return None


def _is_same_request(one: Exchange, other: Exchange) -> bool:
    """Compare ids; chrome-har adds an r for each redirect."""
    if one.request_id is None or other.request_id is None:
        return False
    return one.request_id.rstrip("r") == other.request_id.rstrip("r")


def _bare(url: str) -> str:
    return same_url(url.partition("?")[0])
