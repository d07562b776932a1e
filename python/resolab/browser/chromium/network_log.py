"""The network stack's account of a load: every request from the Network domain's events, failed ones included.

For: collecting events of one page and building `NetworkRequest` rows. Not for: timing the page (`timings`). In
`timings` other origins may withhold their phases, and failed or unfinished requests are missing.
"""

from typing import Any

import msgspec

from resolab.browser.result import NetworkRequest

Json = dict[str, Any]

_ERROR_PAGE = "chrome-error://"
"""The page shown by the browser in place of a failed page; the error page's pictures are not the page's requests."""


class _Row(msgspec.Struct):
    sent: Json
    response: Json = {}
    end_s: float | None = None
    encoded_bytes: int | None = None
    error_text: str | None = None
    from_memory: bool = False


class NetworkLog:
    """The rows of the load since the last `begin`."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._current: dict[str, _Row] = {}

    def begin(self) -> None:
        """Drop the rows of earlier loads."""
        self._rows.clear()
        self._current.clear()

    def take(self, event: str, params: Json) -> None:
        """Take one event; ignore events of other domains."""
        if event == "Network.requestWillBeSent":
            self._take_sent(params)
            return
        row = self._current.get(params.get("requestId", ""))
        if row is None:
            return
        if event == "Network.responseReceived":
            row.response = params["response"]
        elif event == "Network.requestServedFromCache":
            row.from_memory = True
        elif event == "Network.loadingFinished":
            row.end_s = params["timestamp"]
            row.encoded_bytes = int(params["encodedDataLength"])
        elif event == "Network.loadingFailed":
            row.end_s = params["timestamp"]
            row.error_text = params["errorText"]

    def document_status(self, loader_id: str) -> int | None:
        """Return the status of a document's response; a document's request carries the loader's id."""
        row = self._current.get(loader_id)
        return row.response.get("status") if row else None

    def document_error(self, loader_id: str) -> str | None:
        """Return the network error behind a broken-off document response."""
        row = self._current.get(loader_id)
        return row.error_text if row else None

    def requests(self) -> list[NetworkRequest]:
        """Build the rows, in the order they were sent."""
        if not self._rows:
            return []
        origin_s = self._rows[0].sent["timestamp"]
        return [_request(row, origin_s) for row in self._rows]

    def _take_sent(self, params: Json) -> None:
        if params.get("documentURL", "").startswith(_ERROR_PAGE):
            return
        before = self._current.get(params["requestId"])
        if before is not None and "redirectResponse" in params:
            before.response = params["redirectResponse"]
            before.end_s = params["timestamp"]
        row = _Row(sent=params)
        self._current[params["requestId"]] = row
        self._rows.append(row)


def _request(row: _Row, origin_s: float) -> NetworkRequest:
    response = row.response
    address = response.get("remoteIPAddress")
    return NetworkRequest(
        url=row.sent["request"]["url"],
        resource_type=row.sent.get("type", "Other"),
        method=row.sent["request"]["method"],
        start_ms=_ms(row.sent["timestamp"] - origin_s),
        end_ms=None if row.end_s is None else _ms(row.end_s - origin_s),
        status=response.get("status"),
        protocol=response.get("protocol"),
        remote_address=f"{address}:{response.get('remotePort')}" if address else None,
        connection_reused=response.get("connectionReused"),
        from_cache=row.from_memory or bool(response.get("fromDiskCache") or response.get("fromPrefetchCache")),
        encoded_bytes=row.encoded_bytes,
        error_text=row.error_text,
        tls_version=None,
        session_resumed=None,
        in_early_data=None,
        retry_after=_field(response.get("headers", {}), "retry-after"),
        **_phases(response.get("timing"), origin_s),
    )


def _field(fields: Json, name: str) -> str | None:
    """Find a field by the name in lower case; over HTTP/1.1 the server chooses the spelling."""
    return next((value for key, value in fields.items() if key.lower() == name), None)


def _phases(timing: Json | None, origin_s: float) -> dict[str, float | None]:
    names = {
        "dns_start_ms": "dnsStart",
        "dns_end_ms": "dnsEnd",
        "connect_start_ms": "connectStart",
        "connect_end_ms": "connectEnd",
        "send_start_ms": "sendStart",
        "headers_end_ms": "receiveHeadersEnd",
    }
    if not timing:
        return dict.fromkeys(names)
    base_ms = _ms(timing["requestTime"] - origin_s)
    # -1: the phase did not happen for this request.
    return {ours: (base_ms + timing[cdp] if timing.get(cdp, -1) >= 0 else None) for ours, cdp in names.items()}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
