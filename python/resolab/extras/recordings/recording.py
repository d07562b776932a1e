"""A recorded page load, from any form of file: the requests, and the unknown facts about them.

For: the output of the file readers and the input of `model_builder`. Not for: the page model (`pages.model`), free of
URLs.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from resolab.pages.model import Kind

BEFORE_THE_PAGE = "requests from before the page's own"
OTHER_PAGES = "requests of further pages of the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Initiator:
    """The discoverer of a request, as the recorder names it."""

    kind: str
    """CDP's type: `parser`, `script`, `preload`, `preflight`, `other`; empty for a URL alone."""
    url: str | None = None
    """Document or style sheet, or script at the top of the stack."""
    line: int | None = None
    """Line of the parser, counted from 0; `None` when the recorder's lines have no meaning."""
    stack: tuple[str, ...] = ()
    """URLs of the stack, innermost first, through timers and promises for a continued stack."""
    is_asynchronous: bool = False
    """True when the stack continues through timers and promises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Phases of a request in ms, by HAR's names; `None` for an unknown or absent phase."""

    blocked: float | None = None
    dns: float | None = None
    connect: float | None = None
    """The connect time, TLS included."""
    ssl: float | None = None
    send: float | None = None
    wait: float | None = None
    receive: float | None = None

    @property
    def total(self) -> float:
        """Return the time from the request's start to the last byte, in ms."""
        parts = (self.blocked, self.dns, self.connect, self.send, self.wait, self.receive)
        return sum(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedExchange:
    """One request with its answer."""

    url: str
    start_ms: float
    """Start in ms, on the wall clock or a monotonic clock, the same for a whole recording."""
    kind: Kind
    timings: Timings = field(default_factory=Timings)
    method: str = "GET"
    status: int = 0
    """The HTTP status; 0 without a response."""
    redirect_to: str | None = None
    """The redirect's target as an absolute URL."""
    protocol: str | None = None
    """The HTTP version: `h1`, `h2`, `h3`."""
    wire_bytes: int | None = None
    raw_bytes: int | None = None
    request_bytes: int = 0
    address: str | None = None
    connection: str | None = None
    certificate_names: tuple[str, ...] = ()
    priority: str | None = None
    referer: str | None = None
    mode: str | None = None
    """Fetch's mode (`cors`, `no-cors`, `navigate`), if in the request's head."""
    sends_origin: bool = False
    has_credentials: bool | None = None
    """True when the request carried cookies; `None` for scrubbed heads."""
    alt_svc: bool | None = None
    """True when the answer advertised HTTP/3; `None` without the answer's head."""
    request_id: str | None = None
    frame_id: str | None = None
    initiator: Initiator | None = None
    is_preflight: bool = False
    is_preload: bool = False
    by_service_worker: bool = False
    """True when a service worker answered the request, by any means."""
    is_internal_redirect: bool = False
    """True when the browser made the answer itself (HSTS), without the network."""

    @property
    def end_ms(self) -> float:
        """Return the arrival of the last byte, in ms."""
        return self.start_ms + self.timings.total

    @property
    def first_byte_ms(self) -> float:
        """Return the arrival of the answer's first byte, in ms."""
        return self.end_ms - (self.timings.receive or 0.0)

    @property
    def is_redirect(self) -> bool:
        """Return True when the answer redirects to another URL."""
        return self.redirect_to is not None and 300 <= self.status < 400

    def move_start(self, start_ms: float) -> "RecordedExchange":
        """Return the exchange with an earlier start, blocked until its real start; its end stays."""
        waited = max(0.0, self.start_ms - start_ms)
        timings = replace(self.timings, blocked=(self.timings.blocked or 0.0) + waited)
        return replace(self, start_ms=start_ms, timings=timings)


@dataclass(slots=True, kw_only=True)
class Recording:
    """A load: its exchanges in the order of their start."""

    form: str
    exchanges: list[RecordedExchange]
    url: str | None = None
    """The page's URL, if recorded."""
    loaded_ms: float | None = None
    """Load event, on the clock of the exchanges' starts."""
    complete_ms: float | None = None
    """DOMContentLoaded, on the clock of the exchanges' starts."""
    creator: str | None = None
    browser: str | None = None
    recorded: str | None = None
    sha256: str | None = None
    is_on_ticks: bool = False
    """True for the monotonic clock of Chromium's network log instead of Unix time."""
    async_stacks: bool = False
    """True when the recorder followed stacks through timers and promises; if unknown, a continued stack shows this."""
    is_parser_sure: bool = False
    """True when the parser is named only for its own discoveries: stacks continue, or the parser is asked."""
    losses: Counter[str] = field(default_factory=Counter)
    """Left-out or unknown facts, with the number of requests; 0 for all requests."""

    def lose(self, what: str, count: int = 1) -> None:
        """Count a fact left out of the recording."""
        self.losses[what] += count
