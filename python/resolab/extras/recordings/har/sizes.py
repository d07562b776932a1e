"""Body sizes of an answer in a HAR: on the wire, and without content coding.

For: separating the two among six fields with different use by makers. Not for: heads.
"""

from collections.abc import Mapping

from resolab.extras.recordings.har.shapes import HarResponse
from resolab.extras.recordings.values import count, number

_HEAD_MIN_BYTES = 9
"""The smallest head of an HTTP/2 answer: a frame's head."""
_BODILESS = {None, 0, 204, 205, *range(300, 400)}
"""Statuses of answers with an empty body; redirects count as empty."""


def body_sizes(
    response: HarResponse, heads: Mapping[str, str], *, by_cache: bool = False
) -> tuple[int | None, int | None]:
    """Return wire and raw bytes, `None` for an unknown size.

    `content-length` is the body's size, and exact. Chromium's makers include the head in `bodySize` over HTTP/2 and
    HTTP/3.
    """
    content = response.content
    raw = count(content.size) if content else None
    told = count(heads.get("content-length"))
    moved = count(response.body_size)
    if moved is None:
        moved = count(response.transfer_size)
    if moved == 0 and (raw or by_cache):
        moved = None  # It came from a cache: what it would have been is told by the rest.
    if raw == 0 and moved is None and told is None and count(response.status) not in _BODILESS:
        raw = None  # Safari writes what it does not know so.
    saved = number(content.compression) if content else None
    is_coded = heads.get("content-encoding", "identity").lower() not in {"identity", ""} or bool(saved and saved > 0)
    wire = told
    if wire is None or (moved is not None and wire > moved + _HEAD_MIN_BYTES):
        # A length above what came is of an answer that was cut off, or to a HEAD.
        wire = moved
        if raw is not None and (wire is None or (not is_coded and raw > 0)):
            wire = raw if wire is None else min(wire, raw)
    if wire is None:
        return None, raw
    return wire, max(raw or 0, wire) if not is_coded else raw or wire
