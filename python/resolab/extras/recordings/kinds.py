"""The kind of a request, from the recorder's own word, Fetch's destination, the MIME type, the name.

Not for: the names of kinds in the page model (`pages.model.Kind`).
"""

from urllib.parse import urlsplit

from resolab.pages.model import Kind

_WORDS = {
    "document": Kind.DOCUMENT,
    "iframe": Kind.DOCUMENT,
    "frame": Kind.DOCUMENT,
    "stylesheet": Kind.STYLESHEET,
    "style": Kind.STYLESHEET,
    "script": Kind.SCRIPT,
    "worker": Kind.SCRIPT,
    "sharedworker": Kind.SCRIPT,
    "image": Kind.IMAGE,
    "font": Kind.FONT,
    "media": Kind.MEDIA,
    "audio": Kind.MEDIA,
    "video": Kind.MEDIA,
    "track": Kind.MEDIA,
    "texttrack": Kind.MEDIA,
    "xhr": Kind.XHR,
    "fetch": Kind.FETCH,
    "ping": Kind.BEACON,
    "beacon": Kind.BEACON,
    "cspviolationreport": Kind.BEACON,
    "report": Kind.BEACON,
}
"""Resource types of CDP and Firefox, destinations of Fetch (Sec-Fetch-Dest)."""

_ENDINGS = {
    "css": Kind.STYLESHEET,
    "js": Kind.SCRIPT,
    "mjs": Kind.SCRIPT,
    "html": Kind.DOCUMENT,
    "htm": Kind.DOCUMENT,
    "png": Kind.IMAGE,
    "jpg": Kind.IMAGE,
    "jpeg": Kind.IMAGE,
    "gif": Kind.IMAGE,
    "webp": Kind.IMAGE,
    "avif": Kind.IMAGE,
    "svg": Kind.IMAGE,
    "ico": Kind.IMAGE,
    "woff": Kind.FONT,
    "woff2": Kind.FONT,
    "ttf": Kind.FONT,
    "otf": Kind.FONT,
    "eot": Kind.FONT,
    "mp4": Kind.MEDIA,
    "webm": Kind.MEDIA,
    "mp3": Kind.MEDIA,
    "m3u8": Kind.MEDIA,
}

UNKEPT = {"websocket", "eventsource", "manifest", "prefetch"}
"""Recorders' words for requests not repeated by a clone."""


def classify_kind(*, word: str | None, mime: str | None, url: str, destination: str | None, accept: str | None) -> Kind:
    """Tell the kind, by the surest sign there is."""
    for said in (word, destination):
        if said and (known := _WORDS.get(said.lower())):
            return known
    asked = _classify_accept(accept)
    if asked:
        return asked
    answered = _classify_mime(mime)
    if answered is Kind.DOCUMENT and accept:
        # Who navigates accepts text/html by name: this is a script's request, or an answer nobody wanted.
        return _classify_ending(url) or Kind.XHR
    return answered or _classify_ending(url) or Kind.OTHER


def _classify_mime(mime: str | None) -> Kind | None:
    essence = (mime or "").partition(";")[0].strip().lower()
    if "javascript" in essence or "ecmascript" in essence:
        return Kind.SCRIPT
    if "font" in essence:
        return Kind.FONT
    if essence == "text/css":
        return Kind.STYLESHEET
    if essence in {"text/html", "application/xhtml+xml"}:
        return Kind.DOCUMENT
    if essence in {"application/json", "text/json"}:
        return Kind.XHR
    by_type = {"image": Kind.IMAGE, "audio": Kind.MEDIA, "video": Kind.MEDIA}
    return by_type.get(essence.partition("/")[0])


def _classify_ending(url: str) -> Kind | None:
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    return _ENDINGS.get(path.rpartition(".")[2].lower()) if "." in path.rpartition("/")[2] else None


def _classify_accept(accept: str | None) -> Kind | None:
    first = (accept or "").partition(",")[0].strip().lower()
    if first == "text/html":
        return Kind.DOCUMENT
    if first == "text/css":
        return Kind.STYLESHEET
    return Kind.IMAGE if first.startswith("image/") else None
