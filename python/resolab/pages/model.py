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
    """The purpose of a request, in the words of Fetch's destinations, `image` for all images."""

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
    """The reason for a browser's request."""

    NAVIGATION = "navigation"
    """The page's own address."""
    REDIRECT = "redirect"
    """The answer to the parent request, status 3xx."""
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
    """The source of the knowledge about a request's discoverer."""

    INITIATOR = "initiator"
    """The recording names the discoverer."""
    REDIRECT = "redirect"
    """The answer before the request names the request."""
    REFERER = "referer"
    """The request's Referer names the document, and the request's type fits a discoverer in the document."""
    INFERRED = "inferred"
    """Order and type alone give the discoverer: the latest possible discoverer."""


class Cors(enum.StrEnum):
    """The mode of a request other than a navigation (Fetch, request mode and credentials mode)."""

    NO = "no_cors"
    ANONYMOUS = "anonymous"
    CREDENTIALS = "credentials"


class ScriptMode(enum.StrEnum):
    """The markup's mode for a script (HTML, section 4.12.1)."""

    SYNC = "sync"
    ASYNC = "async"
    DEFER = "defer"
    MODULE = "module"


class Outcome(enum.StrEnum):
    """The end of a request."""

    ANSWERED = "answered"
    FAILED = "failed"
    """No response: reset, refused, blocked, or given up by the browser."""


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request and its answer. Other parts refer to a request by its position in `resources`, counted from 0."""

    host: int
    """Position of the request's host in `hosts`, from 0."""
    kind: Kind
    discovery: Discovery
    evidence: Evidence
    parent: int | None = None
    """Position of the request leading to this request; `null` for the page's own document."""
    frame: int = 0
    """Position of the request's document; for a document in a frame, the document around the frame."""
    start_ms: float
    """Start of the request in the browser, in ms since the page's own request."""
    due_ms: float | None = None
    """Time from the earliest possible run of the request's script to the request, in ms. Only for requests by scripts
    and late requests; `null` otherwise."""
    place: float | None = None
    """Share of the parent document received at the discovery, 0 to 1. Only for requests named by markup; `null`
    otherwise."""
    method: str = "GET"
    status: int = 200
    outcome: Outcome = Outcome.ANSWERED
    wire_bytes: int = 0
    """Length of the body on the wire, in bytes, with content coding, without framing and head."""
    raw_bytes: int = 0
    """Length of the body without content coding, in bytes."""
    request_bytes: int = 0
    """Length of the request's body, in bytes."""
    server_time_ms: float = 0.0
    """Time from the request to the first byte of its answer, in ms, without the round trip."""
    first_byte_ms: float | None = None
    """Arrival of the answer's first byte in the recording, in ms since the page's own request. `null` without an
    answer."""
    receive_ms: float = 0.0
    """Time from the first byte of the answer to its last byte in the recording, in ms."""
    run_ms: float = 0.0
    """Computing time of a script or style sheet, in ms, if known from a trace."""
    priority: str | None = None
    """First priority given by the browser (`VeryHigh` to `VeryLow`, Chromium's names); `null` when unknown."""
    script_mode: ScriptMode | None = None
    preload: bool = False
    """True for a request by a preload, with an element waiting for the preload."""
    cors: Cors = Cors.NO
    preflight: bool = False
    """True when a preflight came before the request (Fetch, CORS-preflight)."""
    after_load: bool = False
    """True when the request began after the load event: no part of the page load time."""
    repeats: int | None = None
    """Position of the first request with the same URL and method; `null` for this first request itself."""


class Host(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A host of the page, without its name. A clone makes up a name."""

    site: int
    """Number of the host's registrable domain, the same for all hosts of the domain; 0 is the domain of the page's
    final document."""
    name: str | None = None
    """Real name of the host, only if the import was told to keep names; `null` otherwise."""
    protocols: tuple[str, ...] = ()
    """HTTP versions seen (`h1`, `h2`, `h3`); empty when missing in the recording."""
    address_group: int | None = None
    """Number of the answering address, the same for all hosts answered from this address; `null` when missing in the
    recording."""
    certificate: int | None = None
    """Number of the certificate, the same for all hosts with names on this certificate; `null` when missing in the
    recording."""
    alt_svc: bool | None = None
    """True when answers of the host advertised HTTP/3 (RFC 7838); `null` without response heads."""
    https_record: bool | None = None
    """True when the host's name has an HTTPS record (RFC 9460); `null` when not looked up."""
    round_trip_ms: float | None = None
    """Smallest round trip time in the host's handshakes, in ms; `null` without a handshake."""
    connection_count: int | None = None
    """Number of connections opened by the browser to the host, 0 with all requests over connections of other hosts;
    `null` when missing in the recording."""


class Loss(msgspec.Struct, frozen=True):
    """A fact missing in the recording, or a part left out."""

    what: str
    count: int
    """Number of requests, hosts or pages affected; 0 means all."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The source of a model."""

    form: str
    """Form of the recording: `har`, `cdp`, `trial`, `record` (a browser of ours was recorded), `generated`."""
    creator: str | None = None
    browser: str | None = None
    recorded: str | None = None
    """Year and month of the recording."""
    sha256: str | None = None
    """SHA-256 of the recording's file."""
    initiators: bool = False
    """True when the recording names discoverers at all."""
    async_stacks: bool = False
    """True when stacks continue through timers and promises, so images made by scripts have their script."""


class PageModel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page: its requests in the order of their start, the page's own request first."""

    format: str = FORMAT
    name: str
    source: Source
    hosts: tuple[Host, ...]
    resources: tuple[Resource, ...]
    load_ms: float | None = None
    """Load event, in ms since the page's own request; `null` when missing in the recording."""
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
