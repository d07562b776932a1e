"""What browsertime's result says of each load, and whether the load was what was asked for.

For: its `browsertime.json` as text. Not for: running it (`browsertime`).
"""

import json
from dataclasses import dataclass
from typing import Any

HTTP_VERSION = "h2"


@dataclass(frozen=True)
class PeerLoad:
    """One load; without its times where it failed."""

    plt_ms: float | None
    response_start_ms: float | None
    failure: str | None


def parse(text: str, count: int, request_count: int | None) -> list[PeerLoad]:
    """Read the loads of one page; those of which there is no word have failed."""
    page: dict[str, Any] = json.loads(text)[0]
    loads = [_load(scripts, request_count) for scripts in page["browserScripts"]]
    errors = [str(error) for of_load in page.get("errors", []) for error in of_load]
    missing = max(0, count - len(loads))
    return loads + [PeerLoad(None, None, "; ".join(errors) or "no result")] * missing


def _load(scripts: dict[str, Any], request_count: int | None) -> PeerLoad:
    seen = scripts.get("custom", {}).get("load")
    if not seen:
        return PeerLoad(None, None, "no times")
    failure = _failure(seen, request_count)
    if failure is not None:
        return PeerLoad(None, None, failure)
    return PeerLoad(float(seen["plt_ms"]), float(seen["response_start_ms"]), None)


def _failure(seen: dict[str, Any], request_count: int | None) -> str | None:
    if not seen["plt_ms"]:
        return "no load event"
    if seen["http_version"] != HTTP_VERSION:
        return f"over {seen['http_version'] or 'an unknown version'}"
    if seen["domain_lookup_ms"] <= 0:
        return "no look-up"
    if request_count is not None and seen["request_count"] < request_count:
        return f"{seen['request_count']} of {request_count} requests"
    return None
