"""Answers from a cache or from a service worker, as HARs of different makers mark them.

For: Chromium's makers (`fromDiskCache`, `_fromCache`), Safari (`_fetchType`), Firefox (`cache.afterRequest`). Not for:
the use of such requests (`reader`, `inference.service_workers`).
"""

from collections.abc import Mapping

from resolab.extras.recordings.har.shapes import HarEntry, HarResponse
from resolab.extras.recordings.values import duration, text

_CACHES = {"memory cache", "disk cache"}
_SERVICE_WORKER = "service worker"
"""Words of Safari's Web Inspector."""
_FIREFOX = "firefox"


def is_cached(entry: HarEntry, maker: str | None) -> bool:
    """Return True when a cache answered. For a service worker's answer, the worker's own requests show the source."""
    if is_by_service_worker(entry):
        return False
    response = entry.response or HarResponse()
    said = (response.from_disk_cache, response.from_prefetch_cache)
    is_told = any(one is True for one in said) or bool(text(entry.from_cache)) or _fetch_type(entry) in _CACHES
    return is_told or _has_cache_entry(entry, maker)


def is_by_service_worker(entry: HarEntry) -> bool:
    """Return True for a service worker's answer, by the field of chrome-har, Chromium's developer tools or Safari."""
    response = entry.response or HarResponse()
    said = (response.from_service_worker, response.fetched_via_service_worker)
    return any(one is True for one in said) or _fetch_type(entry) == _SERVICE_WORKER


def _fetch_type(entry: HarEntry) -> str:
    return (text(entry.fetch_type) or "").lower()


def _has_cache_entry(entry: HarEntry, maker: str | None) -> bool:
    """Read HAR's `cache`: for answers from its cache, Firefox writes the state after a request, possibly null.

    Other makers write the state for network answers, too. There an answer without any duration came from the cache.
    """
    if not isinstance(entry.cache, Mapping) or "afterRequest" not in entry.cache:
        return False
    if (maker or "").lower().startswith(_FIREFOX):
        return True
    said = entry.timings
    spent = () if said is None else (said.dns, said.connect, said.send, said.wait, said.receive)
    return entry.cache["afterRequest"] is not None and not any(duration(one) for one in spent)
