"""One trial as an HTTP Archive, version 1.2.

For: HAR's shapes, field by field. Dataset values beyond HAR are under `_resolab`, as HAR allows. Not for: the
arithmetic of phases (`timings`) or files (`write`).

Headers and cookies are not recorded: their lists are empty and their sizes -1, HAR's value for "not known". The MIME
type is guessed from the path. A status has no text in HTTP/2 and HTTP/3.
"""

import mimetypes
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import msgspec

import resolab
from resolab.basics.records import EdgeRequestRecord, PageLoadRecord, Record, ResourceRecord
from resolab.basics.urls import split_url
from resolab.store.har.timings import ABSENT, compute_timings, total_ms
from resolab.store.har.trial import ArchivedTrial, sort_records

Json = dict[str, Any]
UNKNOWN_TYPE = "x-unknown"


def archive(records: Iterable[Record]) -> Json:
    """Make a trial's archive from the records of its file; a trial without a measured load has no pages."""
    trial = sort_records(records)
    log: Json = {"version": "1.2", "creator": {"name": "resolab", "version": resolab.__version__}}
    if trial.load is not None:
        log["browser"] = {"name": trial.load.browser, "version": trial.load.browser_version}
    log["pages"] = [_page(trial, trial.load)] if trial.load else []
    log["entries"] = [_entry(trial, *pair) for pair in trial.requests]
    return {"log": log}


def _find_start(trial: ArchivedTrial) -> datetime:
    """Return the instant of navigationStart, or the trial's start for a browser unable to load."""
    if trial.load is not None and trial.load.navigation_start_unix_ms is not None:
        return datetime.fromtimestamp(trial.load.navigation_start_unix_ms / 1e3, UTC)
    return datetime.fromtimestamp(trial.trial.wall_time_unix_ns / 1e9, UTC)


def _page(trial: ArchivedTrial, load: PageLoadRecord) -> Json:
    return {
        "startedDateTime": _iso(_find_start(trial)),
        "id": trial.trial.trial_id,
        "title": load.url,
        "pageTimings": {"onContentLoad": _or_absent(load.dom_content_loaded_ms), "onLoad": _or_absent(load.plt_ms)},
        "_resolab": {
            "started_from": "trial" if load.navigation_start_unix_ms is None else "navigation_start",
            "trial": msgspec.to_builtins(trial.trial),
            "flags": list(trial.end.flags) if trial.end else [],
            "page_load": msgspec.to_builtins(load),
            "edge_queries": msgspec.to_builtins(list(trial.queries)),
        },
    }


def _entry(trial: ArchivedTrial, resource: ResourceRecord, seen: EdgeRequestRecord | None) -> Json:
    timings = compute_timings(resource)
    version = resource.next_hop_protocol or "unknown"
    entry: Json = {
        "pageref": trial.trial.trial_id,
        "startedDateTime": _iso(_find_start(trial) + timedelta(milliseconds=resource.start_ms)),
        "time": total_ms(timings),
        "request": _request(resource, seen, version),
        "response": _response(resource, seen, version),
        "cache": {},
        "timings": timings,
    }
    connection = trial.connections.get(seen.connection_id) if seen else None
    if connection is not None:
        entry["serverIPAddress"] = connection.local_address.rpartition(":")[0].strip("[]")
    if seen is not None:
        entry["connection"] = str(seen.connection_id)
    entry["_resolab"] = {
        "resource": msgspec.to_builtins(resource),
        "edge_request": msgspec.to_builtins(seen),
        "connection": msgspec.to_builtins(connection),
    }
    return entry


def _request(resource: ResourceRecord, seen: EdgeRequestRecord | None, version: str) -> Json:
    query = parse_qsl(split_url(resource.url).query, keep_blank_values=True)
    return {
        "method": seen.method if seen else "GET",
        "url": resource.url.partition("#")[0],
        "httpVersion": version,
        "cookies": [],
        "headers": [],
        "queryString": [{"name": name, "value": value} for name, value in query],
        "headersSize": -1,
        "bodySize": 0,
    }


def _response(resource: ResourceRecord, seen: EdgeRequestRecord | None, version: str) -> Json:
    status = resource.status or (seen.status if seen else 0)
    encoded = resource.encoded_body_bytes
    if encoded is None and seen is not None:
        encoded = seen.body_bytes
    size = seen.resource_bytes if seen and seen.content_encoding and seen.resource_bytes is not None else encoded
    content: Json = {"size": -1 if size is None else size, "mimeType": _mime_type(resource, status)}
    if size is not None and encoded is not None and size != encoded:
        content["compression"] = size - encoded
    response: Json = {
        "status": status,
        "statusText": _status_text(status, version),
        "httpVersion": version,
        "cookies": [],
        "headers": [],
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1 if encoded is None else encoded,
    }
    if resource.transfer_size_bytes is not None:
        response["_transferSize"] = resource.transfer_size_bytes
    return response


def _mime_type(resource: ResourceRecord, status: int) -> str:
    if not status:
        return UNKNOWN_TYPE
    if resource.content_type:
        return resource.content_type
    path = split_url(resource.url).path
    if resource.initiator_type == "navigation" and path.endswith("/"):
        return "text/html"
    return mimetypes.guess_type(path)[0] or UNKNOWN_TYPE


def _status_text(status: int, version: str) -> str:
    """Return the reason phrase.

    Only HTTP/1.1 has a reason phrase (RFC 9113, section 8.3.2; RFC 9114, section 4.3.2).
    """
    if version != "http/1.1" or status not in set(HTTPStatus):
        return ""
    return HTTPStatus(status).phrase


def _iso(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _or_absent(value: float | None) -> float:
    return ABSENT if value is None else round(value, 3)
