"""Checks the account of requests: every request of a recording is in the model, or in a named and counted loss.

For: `broken`. Not for: the justification of a loss.
"""

import json
from typing import Any

from resolab.pages.model import PageModel

LEFT_OUT = (
    "entries of a shape that is none of HAR's",
    "preflights that no request followed",
    "redirects the browser made itself (HSTS)",
    "requests answered by what the same load had fetched",
    "requests for favicon.ico",
    "requests from before the page's own",
    "requests of further pages of the file",
    "requests of other schemes than http and https (data:, blob:, ws:)",
    "requests of service workers for what the page asked them for",
    "requests of type eventsource",
    "requests of type manifest",
    "requests of type prefetch",
    "requests of type websocket",
    "requests without a URL",
    "requests without the time they began",
    "requests without the time they began (ISO 8601)",
)
"""The losses counting requests left out of the model."""


def count_unaccounted(told: int, model: PageModel) -> int:
    """Count the recorded requests missing in model and losses."""
    preflights = sum(one.preflight for one in model.resources)
    lost = sum(loss.count for loss in model.losses if loss.what in LEFT_OUT)
    return told - len(model.resources) - preflights - lost


def count_har_entries(content: bytes) -> int | None:
    """Count the entries of an archive; return None when Python's reader and ours differ."""
    said = _decode(content)
    archive = said.get("log") if isinstance(said, dict) else None
    entries = archive.get("entries") if isinstance(archive, dict) else None
    return len(entries) if isinstance(entries, list) else None


def count_log_requests(content: bytes) -> int | None:
    """Count the requests of a log of the DevTools protocol: the started requests, and the WebSockets."""
    said = _decode(content)
    if not isinstance(said, list):
        return None
    begun = {"Network.requestWillBeSent", "Network.webSocketCreated"}
    return sum(isinstance(one, dict) and isinstance(one.get("method"), str) and one["method"] in begun for one in said)


def _decode(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
