"""HAR 1.2 in real files: every field may be missing or of another type.

For: decoding only the necessary fields, so a large file with bodies takes little memory. Not for: meaning.
"""

from typing import Any

import msgspec


class _Shape(msgspec.Struct, rename="camel", gc=False):
    """Fields in HAR's spelling; additional fields of recorders begin with an underscore."""


class HarContent(_Shape):
    """Body of an answer, without its text."""

    size: Any = None
    compression: Any = None
    mime_type: Any = None


class HarRequest(_Shape):
    """The request of an entry."""

    method: Any = None
    url: Any = None
    http_version: Any = None
    headers: Any = None
    body_size: Any = None
    is_link_preload: Any = msgspec.field(default=None, name="_isLinkPreload")


class HarResponse(_Shape):
    """The response of an entry."""

    status: Any = None
    status_text: Any = None
    http_version: Any = None
    headers: Any = None
    content: HarContent | None = None
    redirect_url: Any = msgspec.field(default=None, name="redirectURL")
    body_size: Any = None
    headers_size: Any = None
    transfer_size: Any = msgspec.field(default=None, name="_transferSize")
    error: Any = msgspec.field(default=None, name="_error")
    from_disk_cache: Any = None
    from_service_worker: Any = None
    fetched_via_service_worker: Any = msgspec.field(default=None, name="_fetchedViaServiceWorker")
    from_prefetch_cache: Any = None


class HarTimings(_Shape):
    """The timings of a HAR entry."""

    blocked: Any = None
    dns: Any = None
    connect: Any = None
    ssl: Any = None
    send: Any = None
    wait: Any = None
    receive: Any = None


class HarEntry(_Shape):
    """One exchange of request and response."""

    pageref: Any = None
    started_date_time: Any = None
    time: Any = None
    request: HarRequest | None = None
    response: HarResponse | None = None
    timings: HarTimings | None = None
    server_address: Any = msgspec.field(default=None, name="serverIPAddress")
    connection: Any = None
    initiator: Any = msgspec.field(default=None, name="_initiator")
    initiator_detail: Any = msgspec.field(default=None, name="_initiator_detail")
    initiator_type: Any = msgspec.field(default=None, name="_initiator_type")
    initiator_line: Any = msgspec.field(default=None, name="_initiator_line")
    resource_type: Any = msgspec.field(default=None, name="_resourceType")
    priority: Any = msgspec.field(default=None, name="_priority")
    initial_priority: Any = msgspec.field(default=None, name="_initialPriority")
    request_id: Any = msgspec.field(default=None, name="_requestId")
    from_cache: Any = msgspec.field(default=None, name="_fromCache")
    fetch_type: Any = msgspec.field(default=None, name="_fetchType")
    cache: Any = None


class HarPageTimings(_Shape):
    """Instants of a page."""

    on_content_load: Any = None
    on_load: Any = None


class HarPage(_Shape):
    """One load, as a file may hold several."""

    id: Any = None
    title: Any = None
    started_date_time: Any = None
    page_timings: HarPageTimings | None = None


class HarProgram(_Shape):
    """The program or browser behind the file."""

    name: Any = None
    version: Any = None


class HarLog(_Shape):
    """The archive; pages and entries are decoded individually, so a bad entry is the only loss."""

    creator: HarProgram | None = None
    browser: HarProgram | None = None
    pages: list[msgspec.Raw] | None = None
    entries: list[msgspec.Raw] | None = None


class HarFile(HarLog):
    """The file: the archive is in `log`, or bare at the top, as passed to extensions of Chromium."""

    log: HarLog | None = None
    constants: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """The constants of a netlog."""
    trace_events: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """The events of a trace."""
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """The data of WebPageTest's own result."""
