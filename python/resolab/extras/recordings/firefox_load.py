"""Firefox's requests of one load, as its parent process saw them, as a recording. Pure.

For: the discoverers named by Firefox: the document's parser (for elements made by the parser or read ahead), the style
sheet (as the referrer), the frame. Firefox names no scripts; scripts are inferred. Not for: listening
(`browser.firefox.load_listener`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from resolab.extras.recordings.kinds import UNKEPT, classify_kind
from resolab.extras.recordings.recording import Initiator, RecordedExchange, Recording, Timings
from resolab.extras.recordings.values import count, duration, protocol, read_host, same_url, text
from resolab.pages.model import Kind

Row = Mapping[str, Any]
_WORDS = {
    "subdocument": "iframe",
    "xmlhttprequest": "xhr",
    "imageset": "image",
    "csp_report": "cspviolationreport",
    "web_manifest": "manifest",
    "object": "iframe",
}
"""Replacements for content policies (nsIContentPolicy) with another name elsewhere."""
_MODES = ("same-origin", "no-cors", "cors", "navigate")
_PRIORITIES = ((-15, "VeryHigh"), (-5, "High"), (1, "Medium"), (11, "Low"))
"""Firefox's numbers (nsISupportsPriority), the smaller the sooner, in the words for Chromium's."""
_READ_AHEAD = "_preload"
_WORKERS = {"internal_worker", "internal_shared_worker", "internal_service_worker", "internal_worker_static_module"}


def add_exchanges(rows: Iterable[Row], found: Recording) -> None:
    """Add the exchanges, and note the facts missing in Firefox's account."""
    found.exchanges = sorted(_exchanges(rows, found), key=lambda one: one.start_ms)
    if found.loaded_ms is None:
        found.lose("the time of the load event", 0)
    found.lose("which script asked (Firefox names none)", 0)
    found.lose("connections", 0)
    found.lose("computing times of scripts", 0)


def _exchanges(rows: Iterable[Row], found: Recording) -> Iterator[RecordedExchange]:
    asked: set[str] = set()
    for row in rows:
        url = row["url"]
        word = _word(row)
        if read_host(url) is None:
            found.lose("requests of other schemes than http and https (data:, blob:, ws:)")
        elif word in UNKEPT:
            found.lose(f"requests of type {word}")
        elif row["fromCache"] and url in asked:
            found.lose("requests answered by what the same load had fetched")
        else:
            if row["endedMs"] is None:
                found.lose("requests that had not ended when the recording did")
            if row["isCoded"]:
                found.lose("sizes without content coding")
            asked.add(url)
            yield _exchange(row, word)


def _word(row: Row) -> str:
    if row["internalPolicy"] == "internal_eventsource":
        return "eventsource"
    policy: str = row["policy"]
    return _WORDS.get(policy, policy)


def _exchange(row: Row, word: str) -> RecordedExchange:
    status = row["status"] or 0
    is_redirect = 300 <= status < 400 and row["location"] is not None
    kind = classify_kind(word=word, mime=row["mime"], url=row["url"], destination=None, accept=None)
    wire = None if not status else count(row["encodedBytes"]) or count(row["contentLength"]) or 0
    certificate = row["certificate"]
    mode = row["corsMode"]
    return RecordedExchange(
        url=same_url(row["url"]),
        start_ms=_read_open_us(row) / 1000,
        kind=kind,
        timings=_timings(row),
        method=row["method"],
        status=status,
        redirect_to=same_url(row["location"]) if is_redirect else None,
        protocol=protocol(row["protocol"]),
        wire_bytes=wire,
        raw_bytes=count(row["decodedBytes"]) or wire,
        request_bytes=count(row["requestBytes"]) or 0,
        address=row["address"],
        # Its fingerprint: hosts with the same one share it.
        certificate_names=(certificate,) if certificate else (),
        priority=_priority(row["priority"]),
        referer=row["referrer"],
        mode=_MODES[mode] if isinstance(mode, int) and 0 <= mode < len(_MODES) else None,
        sends_origin=row["sendsOrigin"],
        has_credentials=row["sendsCookies"],
        alt_svc=row["advertisesH3"] if status else None,
        frame_id=text(str(row["frameContextId"] or row["contextId"] or "")),
        initiator=_initiator(row, kind),
        is_preflight=row["isPreflight"],
        is_preload=_is_preload(row, kind),
    )


def _initiator(row: Row, kind: Kind) -> Initiator | None:
    """Return the parser when Firefox names the parser; else an initiator outside markup, or `None`."""
    internal = row["internalPolicy"] or ""
    if internal in _WORKERS:
        return Initiator(kind="other")
    if row["contextId"] is None and row["referrer"]:
        # A worker's requests are of no browsing context, and have its script as their referrer.
        return Initiator(kind="script", url=row["referrer"], stack=(row["referrer"],))
    if row["isParserMade"] or (internal.endswith(_READ_AHEAD) and not _is_preload(row, kind)):
        return Initiator(kind="parser", url=row["referrer"])
    return None


def _is_preload(row: Row, kind: Kind) -> bool:
    """Return True for a preload by markup or a script; the parser's reading ahead looks alike."""
    ahead = (row["internalPolicy"] or "").endswith(_READ_AHEAD)
    return ahead and row["initiatorType"] == "link" and kind is not Kind.STYLESHEET


def _priority(value: int | None) -> str | None:
    if value is None:
        return None
    return next((word for limit, word in _PRIORITIES if value < limit), "VeryLow")


def _timings(row: Row) -> Timings:
    """Read a request's phases; instants are microseconds, 0 for absent events."""
    opened_us = _read_open_us(row)
    asked_us, answered_us = row["requestUs"], row["responseUs"]
    if not asked_us or not answered_us:
        ended_us = (row["endedMs"] or 0) * 1000
        return Timings(wait=duration((ended_us - opened_us) / 1000) if ended_us else None)
    dns, connect = (
        _compute_duration_ms(row["dnsStartUs"], row["dnsEndUs"]),
        _compute_duration_ms(row["connectStartUs"], row["connectEndUs"]),
    )
    return Timings(
        blocked=max(0.0, (asked_us - opened_us) / 1000 - (dns or 0.0) - (connect or 0.0)),
        dns=dns,
        connect=connect,
        ssl=_compute_duration_ms(row["secureStartUs"], row["connectEndUs"]),
        wait=_compute_duration_ms(asked_us, answered_us),
        receive=_compute_duration_ms(answered_us, row["endUs"]) or 0.0,
    )


def _compute_duration_ms(begin_us: float, end_us: float) -> float | None:
    return (end_us - begin_us) / 1000 if 0 < begin_us <= end_us else None


def _read_open_us(row: Row) -> float:
    # A channel that was refused before it was opened has no instant of its own.
    return float(row["openUs"] or row["openedMs"] * 1000)
