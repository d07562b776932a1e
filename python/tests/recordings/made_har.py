"""HARs made up for tests: a row for each request, in few words."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SITE = "https://www.shop.example"
TYPES = {
    "document": "text/html",
    "script": "text/javascript",
    "stylesheet": "text/css",
    "image": "image/png",
    "font": "font/woff2",
    "xhr": "application/json",
    "fetch": "application/json",
}


def at(ms: float) -> str:
    return (START + timedelta(milliseconds=ms)).isoformat()


def entry(
    url: str,
    start: float,
    kind: str = "image",
    *,
    wait: float = 20,
    receive: float = 10,
    status: int = 200,
    size: int = 1000,
    asked: dict[str, str] | None = None,
    answered: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Make one entry; `parser`, `script` or `detail` say who asked, `connect` and `ssl` how it got there."""
    timings = {"blocked": 0, "dns": -1, "send": 0, "wait": wait, "receive": receive}
    timings |= {"connect": more.pop("connect", -1), "ssl": more.pop("ssl", -1)}
    detail = more.pop("detail", None)
    if (url_of := more.pop("parser", None)) is not None:
        detail = {"type": "parser", "url": url_of, "lineNumber": more.pop("line", 0)}
    if (stack := more.pop("script", None)) is not None:
        detail = {"type": "script", "stack": {"callFrames": [{"url": one} for one in stack]}}
    version = more.pop("version", "h2")
    made: dict[str, Any] = {
        "pageref": more.pop("pageref", "page_1"),
        "startedDateTime": at(start),
        "time": wait + receive,
        "request": {
            "method": more.pop("method", "GET"),
            "url": url if "://" in url or url.startswith("data:") else SITE + url,
            "httpVersion": version,
            "headers": [{"name": name, "value": value} for name, value in (asked or {}).items()],
            "bodySize": 0,
        },
        "response": {
            "status": status,
            "httpVersion": version,
            "headers": [{"name": name, "value": value} for name, value in (answered or {}).items()],
            "content": {"size": size, "mimeType": TYPES.get(kind, "")},
            "redirectURL": more.pop("to", ""),
            "bodySize": more.pop("moved", size + 120),
        },
        "timings": timings,
        "_resourceType": kind,
    }
    for name in ("fromDiskCache", "fromServiceWorker", "_fetchedViaServiceWorker", "_transferSize", "statusText"):
        if name in more:
            made["response"][name] = more.pop(name)
    if detail is not None:
        made["_initiator_detail"] = json.dumps(detail)
    return made | more


def har(*entries: dict[str, Any], load: float | None = 900, complete: float | None = 500, **log: Any) -> dict[str, Any]:
    """Make an archive of one page."""
    timings = {"onLoad": -1 if load is None else load, "onContentLoad": -1 if complete is None else complete}
    page = {"id": "page_1", "title": f"{SITE}/", "startedDateTime": at(0), "pageTimings": timings}
    made = {"version": "1.2", "creator": {"name": "made", "version": "1"}, "pages": [page], "entries": list(entries)}
    return {"log": made | log}


def document(start: float = 0, **more: Any) -> dict[str, Any]:
    """Make the page's own request: first byte after 20 ms, all of it 100 ms later."""
    return entry("/", start, "document", wait=20, receive=100, size=20_000, **more)
