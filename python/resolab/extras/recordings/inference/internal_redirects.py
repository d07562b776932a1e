"""Redirects made by the browser, as to https by HSTS: in recordings they look like a server's answer.

For: recognising these redirects, and models with the target in the redirect's position, asked for by the redirect's
discoverer. Not for: redirects of servers (`redirects`).
"""

from collections.abc import Mapping
from dataclasses import replace

from resolab.extras.recordings.inference.redirects import join_redirects
from resolab.extras.recordings.recording import RecordedExchange, Recording

_HEAD = "non-authoritative-reason"
_STATUS_TEXT = "internal redirect"
"""Chromium's status text for its own answers (net::RedirectUtil), as some recordings have scrubbed heads."""
_TEMPORARY = 307


def is_internal(*, status: int, status_text: str | None, heads: Mapping[str, str], address: str | None) -> bool:
    """Return True by Chromium's own head and text; a server's answer has an address."""
    told = _HEAD in heads or (status_text or "").lower() == _STATUS_TEXT
    return told and 300 <= status < 400 and address is None


def leave_out_internal(recording: Recording) -> None:
    """Put each target in its redirect's position, also for the page's own; drop redirects without a recorded target."""
    has_addresses = any(one.address for one in recording.exchanges)
    internal = [
        place
        for place, one in enumerate(recording.exchanges)
        if one.is_internal_redirect or (has_addresses and _is_timeless_upgrade(one))
    ]
    if not internal:
        return
    recording.lose("redirects the browser made itself (HSTS)", len(internal))
    sources = join_redirects(recording.exchanges).sources
    targets = {source: target for target, source in sources.items()}
    kept: dict[int, RecordedExchange] = dict(enumerate(recording.exchanges))
    for place in reversed(internal):  # The last of a chain first, so that its target goes on to the first.
        left_out = kept.pop(place)
        target = kept.pop(targets[place], None) if place in targets else None
        if target is None:
            continue
        kept[place] = _replace_redirect(left_out, target)
        if place in sources:
            source = sources[place]
            kept[source] = replace(kept[source], redirect_to=target.url)
        if recording.url == left_out.url:
            recording.url = target.url
    recording.exchanges = [kept[place] for place in sorted(kept)]


def _is_timeless_upgrade(one: RecordedExchange) -> bool:
    """Return True for Chromium's HTTPS upgrades of navigations, with a server's text, under scrubbed heads."""
    is_upgrade = one.url.startswith("http:") and one.redirect_to == one.url.replace("http:", "https:", 1)
    return is_upgrade and one.status == _TEMPORARY and one.address is None and one.timings.total == 0


def _replace_redirect(left_out: RecordedExchange, target: RecordedExchange) -> RecordedExchange:
    return replace(target.move_start(left_out.start_ms), initiator=left_out.initiator or target.initiator)
