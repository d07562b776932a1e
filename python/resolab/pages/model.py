"""A page without its content: requests, the discoverer and time of each request, and the serving hosts.

For: the shape of a page model file, equal for every page of any origin (docs/formats/page-model.md). Not for: reading
recordings (`recordings`), or serving (`clone`).
"""

import enum

import msgspec

FORMAT = "1.0"
"""Version of the shape. The minor number grows with changes safe to ignore by a reader, the major number with all other
changes."""


class Kind(enum.StrEnum):
    """What a request was for, in the words of Fetch's destinations, `image` for all images."""

    DOCUMENT = "document"
    STYLESHEET = "stylesheet"
    SCRIPT = "script"
    IMAGE = "image"
    FONT = "font"
    MEDIA = "media"
    FETCH = "fetch"
    XHR = "xhr"
    BEACON = "beacon"
    OTHER = "other"


class Discovery(enum.StrEnum):
    """What made the browser ask."""

    NAVIGATION = "navigation"
    """The page's own address."""
    REDIRECT = "redirect"
    """The answer to the parent, status 3xx."""
    DOCUMENT = "document"
    """Markup of the parent, found by the parser or the preload scanner."""
    STYLESHEET = "stylesheet"
    """A style sheet, the parent, names the request."""
    SCRIPT = "script"
    """The run of the parent, a script with its own URL."""
    INLINE_SCRIPT = "inline_script"
    """An inline script of the parent, a document."""
    LATE = "late"
    """Code in the parent document, run after its parser had passed: an unknown script."""


class Evidence(enum.StrEnum):
    """How it is known who discovered a request."""

    INITIATOR = "initiator"
    """The recording names the discoverer."""
    REDIRECT = "redirect"
    """The answer before the request names the request."""
    REFERER = "referer"
    """The request's Referer names the document, and the request's type fits a discoverer in the document."""
    INFERRED = "inferred"
    """By order and type alone: the latest possible discoverer."""


class Cors(enum.StrEnum):
    """Mode of a request that is no navigation (Fetch, request mode and credentials mode)."""

    NO = "no_cors"
    ANONYMOUS = "anonymous"
    CREDENTIALS = "credentials"


class ScriptMode(enum.StrEnum):
    """How markup asks for a script (HTML, section 4.12.1)."""

    SYNC = "sync"
    ASYNC = "async"
    DEFER = "defer"
    MODULE = "module"


class Outcome(enum.StrEnum):
    """How a request ended."""

    ANSWERED = "answered"
    FAILED = "failed"
    """No response: reset, refused, blocked, or given up by the browser."""


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request and its answer. Others name it by its place in `resources`, counted from 0."""

    host: int
    """Place of its host in `hosts`."""
    kind: Kind
    discovery: Discovery
    evidence: Evidence
    parent: int | None = None
    """Who discovered it; none for the page's own document."""
    frame: int = 0
    """Document it belongs to; of a document in a frame, the document around that."""
    start_ms: float
    """When the browser wanted it, since the page's own request."""
    due_ms: float | None = None
    """When its script asked for it, since that script could first have run; of requests by scripts and late ones."""
    place: float | None = None
    """Share of the parent document that had arrived when it was found, 0 to 1; only of what markup names."""
    method: str = "GET"
    status: int = 200
    outcome: Outcome = Outcome.ANSWERED
    wire_bytes: int = 0
    """Body as it travelled, coding included, framing and head not."""
    raw_bytes: int = 0
    """Body without content coding."""
    request_bytes: int = 0
    """Body of the request."""
    server_time_ms: float = 0.0
    """From the request to the first byte of its answer, without the round trip."""
    first_byte_ms: float | None = None
    """When the first byte of its answer came in the recording, since the page's own request."""
    receive_ms: float = 0.0
    """From the first byte of the answer to its last, in the recording."""
    run_ms: float = 0.0
    """Computing time of a script or style sheet, where a trace told it."""
    priority: str | None = None
    """The browser's first word on it (`VeryHigh` to `VeryLow`, Chromium's names)."""
    script_mode: ScriptMode | None = None
    preload: bool = False
    """Asked for by a preload, for which its element waited."""
    cors: Cors = Cors.NO
    preflight: bool = False
    """A preflight went before it (Fetch, CORS-preflight)."""
    after_load: bool = False
    """It began after the load event: no part of the page load time."""
    repeats: int | None = None
    """First request of the same URL, if it was not that."""


class Host(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name the page asked, without the name, which a clone makes up."""

    site: int
    """Hosts of one registrable domain have the same number; 0 is that of the page's final document."""
    name: str | None = None
    """Its real name, only where the import was told to keep names."""
    protocols: tuple[str, ...] = ()
    """HTTP versions that were seen (`h1`, `h2`, `h3`), empty where the recording does not say."""
    address_group: int | None = None
    """Hosts answered from one address have the same number; none where the recording does not say."""
    certificate: int | None = None
    """Hosts whose names stood on one certificate have the same number; none where the recording does not say."""
    alt_svc: bool | None = None
    """Whether its answers advertised HTTP/3 (RFC 7838); none without response heads."""
    https_record: bool | None = None
    """Whether its name has an HTTPS record (RFC 9460); none where nobody asked."""
    round_trip_ms: float | None = None
    """Smallest round trip seen in its handshakes; none without one."""
    connection_count: int | None = None
    """Connections the browser opened to it, 0 if its requests went over those of others; none where not told."""


class Loss(msgspec.Struct, frozen=True):
    """Something the recording does not tell, or that was left out."""

    what: str
    count: int
    """How many requests, hosts or pages it holds for; 0: for all of it."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a model comes from."""

    form: str
    """`har`, `cdp`, `trial`, `record` (a browser of ours was listened to), `generated`."""
    creator: str | None = None
    browser: str | None = None
    recorded: str | None = None
    """Year and month."""
    sha256: str | None = None
    """Of the file read."""
    initiators: bool = False
    """Whether it names discoverers at all."""
    async_stacks: bool = False
    """Whether stacks go on through timers and promises, so that images made by scripts have their script."""


class PageModel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page: its requests in the order of their start, the page's own first."""

    format: str = FORMAT
    name: str
    source: Source
    hosts: tuple[Host, ...]
    resources: tuple[Resource, ...]
    load_ms: float | None = None
    """Load event, since the page's own request; none where the recording has none."""
    dom_content_loaded_ms: float | None = None
    losses: tuple[Loss, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values impossible for a page; the message names the position."""
        for place, resource in enumerate(self.resources):
            problem = self._problem(place, resource)
            if problem:
                raise ValueError(f"resources[{place}]: {problem}")
        if not self.resources:
            raise ValueError("resources: a page has at least its document")

    def _problem(self, place: int, resource: Resource) -> str | None:
        is_first = resource.discovery is Discovery.NAVIGATION
        if is_first != (place == 0):
            return "the first, and no other, is by navigation"
        if not 0 <= resource.host < len(self.hosts):
            return f"host {resource.host} is none of {len(self.hosts)}"
        if is_first != (resource.parent is None):
            return "the first, and no other, has no parent"
        if resource.parent is not None and not 0 <= resource.parent < place:
            return f"parent {resource.parent} does not stand before it"
        if not 0 <= resource.frame < max(place, 1):
            return f"frame {resource.frame} does not stand before it"
        return None
