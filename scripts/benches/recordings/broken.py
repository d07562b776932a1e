"""Broken HARs: made-up archives with bytes changed, cut, doubled and fields exchanged; each is read, none may crash.

For: `scripts/bench recordings --broken N`. A crash is any exception but the one that tells a user what is wrong; the
seed of its round is printed. Not for: sizes (`large`).
"""

import copy
import json
import random
import time
from collections import Counter
from typing import Any

from resolab.errors import ConfigurationError
from resolab.recordings.building import build
from resolab.recordings.cdp import read_cdp
from resolab.recordings.har import read_har

SITE = "https://www.made.example"
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
    entries = [
        _entry("/", "document", 0, answer={"redirectURL": root, "status": 301}),
        _entry("/home", "document", 30, _requestId="1"),
        _entry("/a.js", "script", 60, _initiator=root, _initiator_line=3, _priority="High"),
        _entry("/x", "fetch", 90, answer={"_transferSize": 300}, _initiator_detail=detail, _initiator_type="script"),
        _entry("/a.css", "stylesheet", 60, answer={"fromDiskCache": True}, _initiator={"type": "parser", "url": root}),
    ]
    page = {"id": "p", "title": SITE, "startedDateTime": "2026-03-01T12:00:00Z", "pageTimings": {"onLoad": 99}}
    return {"log": {"version": "1.2", "creator": {"name": "made"}, "pages": [page], "entries": entries}}


def _entry(path: str, kind: str, start: int, answer: Json | None = None, **more: Any) -> Json:
    return {
        "pageref": "p",
        "startedDateTime": f"2026-03-01T12:00:00.{start:03}Z",
        "request": {"method": "GET", "url": SITE + path, "headers": [{"name": "Referer", "value": f"{SITE}/home"}]},
        "response": {"status": 200, "content": {"size": 500, "mimeType": "x"}, "bodySize": 400} | (answer or {}),
        "timings": {"blocked": -1, "connect": 20, "ssl": 10, "wait": 20, "receive": 5},
        "_resourceType": kind,
    } | more


def log() -> list[Json]:
    """Make a small log of the Chrome DevTools Protocol."""
    request = {"url": f"{SITE}/", "method": "GET", "headers": {}}
    answer = {"status": 200, "headers": {}, "timing": {"requestTime": 1.0, "receiveHeadersEnd": 5}, "protocol": "h2"}
    events: list[tuple[str, Json]] = [
        ("Network.requestWillBeSent", {"requestId": "1", "request": request, "timestamp": 1.0, "type": "Document"}),
        ("Network.responseReceived", {"requestId": "1", "response": answer}),
        ("Network.dataReceived", {"requestId": "1", "dataLength": 500, "encodedDataLength": 100}),
        ("Network.loadingFinished", {"requestId": "1", "timestamp": 1.1, "encodedDataLength": 300}),
        ("Page.loadEventFired", {"timestamp": 1.2}),
    ]
    return [{"method": method, "params": params} for method, params in events]


def run(rounds: int, seed: int) -> Counter[str]:
    """Break and read so many archives; count what came of them. A crash is raised with its round."""
    came_of: Counter[str] = Counter()
    bases = [(read_har, archive()), (read_cdp, log())]
    start = time.monotonic()
    for number in range(rounds):
        draw = random.Random(f"{seed}-{number}")
        reader, base = bases[0] if draw.random() < 0.8 else bases[1]
        content = _broken(base, draw)
        try:
            build(reader(content, "made"), "made")
            came_of["a model"] += 1
        except (ConfigurationError, ValueError) as error:
            if type(error) not in {ConfigurationError, ValueError}:
                raise AssertionError(f"round {number} of seed {seed}: {content!r}") from error
            came_of["an error in words"] += 1
        except Exception as error:
            raise AssertionError(f"round {number} of seed {seed}: {content!r}") from error
    came_of["seconds"] = round(time.monotonic() - start)
    return came_of


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
    """Put something odd, or something from elsewhere, in a place of the tree, or take it away."""
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
