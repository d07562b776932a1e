"""Reads each load from browsertime's result.

For: the text of `browsertime.json`. Not for: running browsertime (`browsertime`), or validity of a load (`rule`).
"""

import json
from dataclasses import dataclass, fields
from typing import Any

from benches.peers.rule import BrowserTimings, failure_of


@dataclass(frozen=True)
class PeerLoad:
    """A load; without times after a failure."""

    plt_ms: float | None
    response_start_ms: float | None
    failure: str | None


def parse(text: str, count: int, request_count: int | None) -> list[PeerLoad]:
    """Read the loads of a page; missing loads have failed."""
    page: dict[str, Any] = json.loads(text)[0]
    loads = [_load(scripts, request_count) for scripts in page["browserScripts"]]
    errors = [str(error) for of_load in page.get("errors", []) for error in of_load]
    missing = max(0, count - len(loads))
    return loads + [PeerLoad(None, None, "; ".join(errors) or "no result")] * missing


def _load(scripts: dict[str, Any], request_count: int | None) -> PeerLoad:
    said = scripts.get("custom", {}).get("load")
    if not said:
        return PeerLoad(None, None, "no times")
    seen = BrowserTimings(**{one.name: said[one.name] for one in fields(BrowserTimings)})
    failure = failure_of(seen, request_count)
    if failure is not None:
        return PeerLoad(None, None, failure)
    return PeerLoad(seen.plt_ms, seen.response_start_ms, None)
