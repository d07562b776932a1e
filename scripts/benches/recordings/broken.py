"""Broken recordings: synthetic recordings with bytes changed, cut, doubled and fields exchanged; no import may crash.

For: `scripts/bench recordings --broken N`: HARs, logs of the DevTools protocol, netlogs beside a HAR. A crash is any
exception except the user's error message, or a request missing in both the model and its losses. A crash prints the
seed of its round. Not for: sizes (`large`).
"""

import copy
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benches.recordings.request_account import count_har_entries, count_log_requests, count_unaccounted
from resolab.basics.errors import ConfigurationError
from resolab.browser.chromium.netlog import read_netlog
from resolab.extras.recordings import import_page
from resolab.extras.recordings.netlog import import_with_netlog

SITE = "https://www.made.example"
BEGIN_UNIX_MS = 1_772_366_400_000
"""The beginning of the archive: 2026-03-01, noon."""
ODD: list[Any] = [
    None, True, -1, 0, 1e308, 10**30, "", "x", "\ud800", "-1", "nan", [], {}, [[]], {"url": 1}, "http://", "https://[",
    "//", "data:,", "2026-01-01", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "https://a.example:99999/",
]  # fmt: skip
Json = dict[str, Any]


def archive() -> Json:
    """Make a small archive with something of everything."""
    root = f"{SITE}/home"
    stack = {"callFrames": [{"url": f"{SITE}/a.js"}], "parent": {"callFrames": []}}
    detail = json.dumps({"type": "script", "stack": stack})
    api = "https://api.example/v"
    entries = [
        _entry("data:,", "document", 0, pageref="q"),
        _entry("/", "document", 0, answer={"redirectURL": root, "status": 301}),
        _entry("/home", "document", 30, _requestId="1"),
        _entry("/a.js", "script", 60, _initiator=root, _initiator_line=3, _priority="High"),
        _entry("/x", "fetch", 90, answer={"_transferSize": 300}, _initiator_detail=detail, _initiator_type="script"),
        _entry("/a.css", "stylesheet", 60, answer={"fromDiskCache": True}, _initiator={"type": "parser", "url": root}),
        _entry("/a.css", "stylesheet", 99, _fetchType="Memory Cache", cache={"afterRequest": None}),
        _entry(api, "preflight", 91, request={"method": "OPTIONS", "url": api}, _initiator_type="preflight"),
        _entry(api, "fetch", 95, answer={"fromServiceWorker": True}),
        _entry("/favicon.ico", "other", 96),
        _entry("wss://made.example/", "websocket", 97),
    ]
    page = {"id": "p", "title": SITE, "startedDateTime": "2026-03-01T12:00:00Z", "pageTimings": {"onLoad": 99}}
    pages = [{"id": "q", "title": "data:,", "startedDateTime": "2026-03-01T12:00:00"}, page]
    return {"log": {"version": "1.2", "creator": {"name": "made"}, "pages": pages, "entries": entries}}


def _entry(path: str, kind: str, start: int, answer: Json | None = None, **more: Any) -> Json:
    return {
        "pageref": "p",
        "startedDateTime": f"2026-03-01T12:00:00.{start:03}Z",
        "request": {
            "method": "GET",
            "url": path if ":" in path else SITE + path,
            "headers": [{"name": "Referer", "value": f"{SITE}/home"}],
        },
        "response": {"status": 200, "content": {"size": 500, "mimeType": "x"}, "bodySize": 400} | (answer or {}),
        "timings": {"blocked": -1, "connect": 20, "ssl": 10, "wait": 20, "receive": 5},
        "_resourceType": kind,
    } | more


def log() -> list[Json]:
    """Make a small log of the Chrome DevTools Protocol: a load, and the same page again."""
    blank = {"frame": {"id": "F", "loaderId": "0", "url": "about:blank"}}
    begun: list[tuple[str, Json]] = [("Page.frameNavigated", blank), ("Page.loadEventFired", {"timestamp": 0.5})]
    events = [*begun, *_load("1", 1.0), *_load("2", 5.0)]
    return [{"method": method, "params": params} for method, params in events]


def _load(loader: str, at: float) -> list[tuple[str, Json]]:
    request = {"url": f"{SITE}/", "method": "GET", "headers": {}}
    answer = {"status": 200, "headers": {}, "timing": {"requestTime": at, "receiveHeadersEnd": 5}, "protocol": "h2"}
    asked = {"loaderId": loader, "frameId": "F", "timestamp": at}
    image = {"requestId": f"{loader}.2", "request": request | {"url": f"{SITE}/a.png"}, "type": "Image"}
    frame = {"frame": {"id": "F", "loaderId": loader, "url": f"{SITE}/"}}
    return [
        ("Network.requestWillBeSent", {"requestId": loader, "request": request, "type": "Document", **asked}),
        ("Network.responseReceived", {"requestId": loader, "response": answer}),
        ("Page.frameNavigated", frame),
        ("Page.frameAttached", {"frameId": "G", "parentFrameId": "F"}),
        ("Network.dataReceived", {"requestId": loader, "dataLength": 500, "encodedDataLength": 100}),
        ("Network.loadingFinished", {"requestId": loader, "timestamp": at + 0.1, "encodedDataLength": 300}),
        ("Network.requestWillBeSent", {**image, **asked}),
        ("Network.loadingFailed", {"requestId": f"{loader}.2", "timestamp": at + 0.1}),
        ("Page.loadEventFired", {"timestamp": at + 0.2}),
    ]


def netlog() -> Json:
    """Make a small log of Chromium's network stack: a connection with a request, in the archive's time."""
    names = ["SOCKET_ALIVE", "TCP_CONNECT", "SSL_CONNECT", "HTTP2_SESSION", "HTTP2_SESSION_INITIALIZED"]
    names.append("HTTP2_SESSION_SEND_HEADERS")
    host = SITE.removeprefix("https://")
    heads = {"headers": [f":authority: {host}", ":path: /"]}
    rows: list[tuple[int, int, int, Json]] = [
        (0, 1, 1, {}),
        (1, 1, 1, {"address_list": ["192.0.2.1:443"]}),
        (1, 2, 1, {"remote_address": "192.0.2.1:443"}),
        (2, 1, 1, {}),
        (2, 2, 1, {"next_proto": "h2", "is_resumed": False}),
        (3, 1, 2, {"host": f"{host}:443"}),
        (4, 0, 2, {"source_dependency": {"id": 1, "type": 0}}),
        (5, 0, 2, heads),
    ]
    events = [
        {"params": params, "phase": phase, "source": {"id": source, "type": 0}, "time": str(40 + number), "type": kind}
        for number, (kind, phase, source, params) in enumerate(rows)
    ]
    constants = {"logEventTypes": {name: number for number, name in enumerate(names)}, "logSourceType": {"SOCKET": 0}}
    return {"constants": constants | {"timeTickOffset": BEGIN_UNIX_MS}, "events": events}


def _format_as_chromium(text: str) -> str:
    """Lay a netlog out in Chromium's form: the head, then an event per line."""
    return text.replace(', "events": [', ',\n"events": [\n').replace('}, {"params"', '},\n{"params"')


def run(rounds: int, seed: int) -> Counter[str]:
    """Break and read `rounds` recordings; count the results. Raise a crash with its round."""
    came_of: Counter[str] = Counter()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="resolab-broken-") as folder:
        whole = Path(folder) / "whole.har"
        whole.write_text(json.dumps(archive()))
        for number in range(rounds):
            draw = random.Random(f"{seed}-{number}")
            kind = draw.choices(("har", "log", "netlog"), (6, 3, 1))[0]
            content = _broken(BASES[kind](), draw)
            file = Path(folder) / kind
            try:
                came_of[_read(kind, content, file, whole)] += 1
            except Exception as error:
                raise AssertionError(f"round {number} of seed {seed}: {kind}: {content!r}") from error
    came_of["seconds"] = round(time.monotonic() - start)
    return came_of


BASES: dict[str, Callable[[], Any]] = {"har": archive, "log": log, "netlog": netlog}


def _read(kind: str, content: bytes, file: Path, whole: Path) -> str:
    """Read a recording like the command, and check the account of all requests."""
    file.write_bytes(_format_as_chromium(content.decode("latin-1")).encode("latin-1") if kind == "netlog" else content)
    try:
        if kind == "netlog":
            import_with_netlog(whole, "made", read_netlog(file))
            return "a model"
        model = import_page(file, "made")
    except ConfigurationError:
        return "an error in words"
    told = (count_har_entries if kind == "har" else count_log_requests)(content)
    if told is not None and model.source.form == {"har": "har", "log": "cdp"}[kind]:
        missing = count_unaccounted(told, model)
        if missing:
            raise ValueError(f"{missing} of {told} requests are neither in the model nor among {model.losses}")
    return "a model"


def _broken(base: Any, draw: random.Random) -> bytes:
    text = json.dumps(base)
    if draw.random() < 0.6:
        changed = json.loads(text)
        for _ in range(draw.randrange(1, 4)):
            _exchange(changed, draw)
        text = json.dumps(changed)
    content = bytearray(text.encode())
    for _ in range(draw.choice((0, 0, 1, 3))):
        place = draw.randrange(len(content) + 1)
        way = draw.randrange(4)
        if way == 0:
            del content[place : place + draw.randrange(1, 40)]
        elif way == 1:
            content[place:place] = draw.randbytes(draw.randrange(1, 4))
        elif way == 2:
            content[place:place] = content[place : place + 60]
        else:
            del content[place:]
        if not content:
            break
    return bytes(content)


def _exchange(changed: Any, draw: random.Random) -> None:
    """Put an odd value, or a value from elsewhere, at a random position of the tree, or remove the position."""
    places = _places(changed)
    if not places:
        return
    holder, key = draw.choice(places)
    if draw.random() < 0.2 and isinstance(holder, dict):
        holder.pop(key, None)
        return
    other, other_key = draw.choice(places)
    value = draw.choice(ODD) if draw.random() < 0.7 else other[other_key]
    # A copy: what is put in may be changed next, and must not be what later rounds draw, or a circle.
    holder[key] = copy.deepcopy(value)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found
