"""The initiator of a request, in HARs of different makers.

For: chrome-har (CDP's initiator as text beside short forms), Chrome HAR Capturer and DevTools (CDP's initiator itself),
WebPageTest (a URL and a line without meaning for the order). Not for: the initiator's exchange
(`inference.discoverers`).
"""

from collections.abc import Mapping

from resolab.extras.recordings.har.shapes import HarEntry
from resolab.extras.recordings.json_text import JSON_ERRORS, decode_json
from resolab.extras.recordings.recording import Initiator
from resolab.extras.recordings.values import count, text

_ASYNC_DEPTH_LIMIT = 64


def read_initiator(entry: HarEntry) -> Initiator | None:
    """Read the fullest form there is."""
    detail = entry.initiator_detail if isinstance(entry.initiator_detail, str) else None
    if detail:
        try:
            return read_cdp_initiator(decode_json(detail.encode(), object))
        except JSON_ERRORS:
            pass  # The short forms say the same in part.
    if isinstance(entry.initiator, Mapping):
        return read_cdp_initiator(entry.initiator)
    url = text(entry.initiator)
    kind = text(entry.initiator_type) or ""
    if url is None and not kind:
        return None
    line = count(entry.initiator_line) if kind else None
    return Initiator(kind=kind, url=url, line=None if line is None else line - 1)


def read_cdp_initiator(said: object) -> Initiator | None:
    """Read Network.Initiator of the Chrome DevTools Protocol."""
    if not isinstance(said, Mapping):
        return None
    stack, is_asynchronous = _read_stack(said.get("stack"))
    url = text(said.get("url")) or (stack[0] if stack else None)
    return Initiator(
        kind=text(said.get("type")) or "",
        url=url,
        line=count(said.get("lineNumber")),
        stack=tuple(stack),
        is_asynchronous=is_asynchronous,
    )


def _read_stack(said: object) -> tuple[list[str], bool]:
    urls: list[str] = []
    depth = 0
    while isinstance(said, Mapping) and depth < _ASYNC_DEPTH_LIMIT:
        frames = said.get("callFrames")
        for frame in frames if isinstance(frames, list) else ():
            url = text(frame.get("url")) if isinstance(frame, Mapping) else None
            if url and (not urls or urls[-1] != url):
                urls.append(url)
        said = said.get("parent")
        depth += 1
    return urls, depth > 1
