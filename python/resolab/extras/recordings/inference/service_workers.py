"""Requests answered by a service worker: the worker's own request for the same URL is recorded beside the page's.

For: one request of the two, with the page's discoverer and the network's answer. Recorders with access to workers
(ours, Chromium's developer tools) have both; others have only the page's, taken as fetched. Not for: workers' own
requests, unrelated to the page.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from resolab.extras.recordings.recording import RecordedExchange, Recording

_EARLY_MS = 2.0
"""The two are of clocks of two processes."""


def join_service_workers(recording: Recording) -> None:
    """Leave one request of each pair; drop unpaired worker answers with a URL fetched in the same load."""
    exchanges = recording.exchanges
    if not any(one.by_service_worker for one in exchanges):
        return
    pairs = _pairs(exchanges)
    if pairs:
        recording.lose("requests of service workers for what the page asked them for", len(pairs))
    joined = _join_pairs(exchanges, pairs)
    recording.exchanges = list(_drop_known(sorted(joined, key=lambda one: one.start_ms), recording))


def _pairs(exchanges: Sequence[RecordedExchange]) -> dict[int, int]:
    """Map each request of a worker to the page's request behind it, both by index, in the order of their begin."""
    asked: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, one in enumerate(exchanges):
        # A worker's are of no frame.
        if not one.by_service_worker and one.frame_id is None:
            asked[one.method, one.url].append(place)
    pairs = {}
    for place, page in enumerate(exchanges):
        if not page.by_service_worker:
            continue
        own = asked[page.method, page.url]
        found = next((other for other in own if _is_during(exchanges[other], page)), None)
        if found is not None:
            own.remove(found)
            pairs[found] = place
    return pairs


def _is_during(worker: RecordedExchange, page: RecordedExchange) -> bool:
    return page.start_ms - _EARLY_MS <= worker.start_ms <= page.end_ms


def _join_pairs(exchanges: Sequence[RecordedExchange], pairs: Mapping[int, int]) -> Iterator[RecordedExchange]:
    of_chain = {exchanges[own].request_id: exchanges[page] for own, page in pairs.items()}
    left_out = set(pairs.values())
    for place, one in enumerate(exchanges):
        if place in pairs:
            page = exchanges[pairs[place]]
            yield replace(_combine(page, one.move_start(page.start_ms)), initiator=page.initiator)
        elif one.request_id is not None and one.request_id in of_chain and not one.by_service_worker:
            # The worker was redirected.
            yield _combine(of_chain[one.request_id], one)
        elif place not in left_out:
            yield one


def _combine(page: RecordedExchange, one: RecordedExchange) -> RecordedExchange:
    """Combine the network's answer with the page's request."""
    return replace(
        one,
        kind=page.kind,
        request_id=page.request_id,
        frame_id=page.frame_id,
        referer=page.referer or one.referer,
        mode=page.mode or one.mode,
        priority=page.priority,
        is_preload=page.is_preload,
    )


def _drop_known(exchanges: Iterable[RecordedExchange], recording: Recording) -> Iterator[RecordedExchange]:
    known: set[str] = set()
    for one in exchanges:
        if one.by_service_worker and one.url in known:
            recording.lose("requests answered by what the same load had fetched")
            continue
        if one.by_service_worker:
            # A first visit would have fetched it, and others have it as their discoverer.
            recording.lose("requests answered by a cache, taken for fetched")
        known.add(one.url)
        yield one
