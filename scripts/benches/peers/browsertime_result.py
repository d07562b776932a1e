"""What browsertime's result says of each load.

For: its `browsertime.json` as text. Not for: running it (`browsertime`), or whether a load counts (`rule`).
"""

import json
from dataclasses import dataclass, fields
from typing import Any

from benches.peers.rule import Seen, failure_of


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
    said = scripts.get("custom", {}).get("load")
    if not said:
        return PeerLoad(None, None, "no times")
    seen = Seen(**{one.name: said[one.name] for one in fields(Seen)})
    failure = failure_of(seen, request_count)
    if failure is not None:
        return PeerLoad(None, None, failure)
    return PeerLoad(seen.plt_ms, seen.response_start_ms, None)
