"""A page load as somebody recorded it, whatever the file's form: the requests, and what is not known of them.

For: what readers of files give and `building` takes. Not for: the page model (`pages.model`), which has no URL in it.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from resolab.pages.model import Kind

BEFORE_THE_PAGE = "requests from before the page's own"
OTHER_PAGES = "requests of further pages of the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Initiator:
    """What the recorder says made the browser ask."""

    kind: str
    """CDP's words: `parser`, `script`, `preload`, `preflight`, `other`; empty where only a URL is told."""
    url: str | None = None
    """Document or style sheet, or script at the top of the stack."""
    line: int | None = None
    """Counted from 0, where the parser stood; none where the recorder's lines say nothing."""
    stack: tuple[str, ...] = ()
    """URLs of the stack, the innermost first, through timers and promises where it goes on there."""
    is_asynchronous: bool = False
    """Whether the stack goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Phases of a request in ms, in HAR's words; none where not known or not taken part in."""

    blocked: float | None = None
    dns: float | None = None
    connect: float | None = None
    """TLS included."""
    ssl: float | None = None
    send: float | None = None
    wait: float | None = None
    receive: float | None = None

    @property
    def total(self) -> float:
        """From the wish to the last byte."""
        parts = (self.blocked, self.dns, self.connect, self.send, self.wait, self.receive)
        return sum(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it."""

    url: str
    start_ms: float
    """Wall clock or monotonic, the same for all of one recording."""
    kind: Kind
    timings: Timings = field(default_factory=Timings)
    method: str = "GET"
    status: int = 0
    """0: no response."""
    redirect_to: str | None = None
    """Absolute."""
    protocol: str | None = None
    """`h1`, `h2`, `h3`."""
    wire_bytes: int | None = None
    raw_bytes: int | None = None
    request_bytes: int = 0
    address: str | None = None
    connection: str | None = None
    certificate_names: tuple[str, ...] = ()
    priority: str | None = None
    referer: str | None = None
    mode: str | None = None
    """Fetch's mode (`cors`, `no-cors`, `navigate`), where the request's head says it."""
    sends_origin: bool = False
    has_credentials: bool | None = None
    """Whether it carried cookies; none where heads are scrubbed."""
    alt_svc: bool | None = None
    """Whether the answer advertised HTTP/3; none without its head."""
    request_id: str | None = None
    frame_id: str | None = None
    initiator: Initiator | None = None
    is_preflight: bool = False
    is_preload: bool = False
    by_service_worker: bool = False
    """A service worker answered it, by whatever means."""
    is_internal_redirect: bool = False
    """The browser made the answer itself (HSTS): nothing of it was on the network."""

    @property
    def end_ms(self) -> float:
        """When the last byte came."""
        return self.start_ms + self.timings.total

    @property
    def first_byte_ms(self) -> float:
        """When the first byte of the answer came."""
        return self.end_ms - (self.timings.receive or 0.0)

    @property
    def is_redirect(self) -> bool:
        """Whether the answer leads elsewhere."""
        return self.redirect_to is not None and 300 <= self.status < 400

    def asked_from(self, start_ms: float) -> "Exchange":
        """Give the same with an earlier wish, blocked until it began; it ends when it did."""
        waited = max(0.0, self.start_ms - start_ms)
        timings = replace(self.timings, blocked=(self.timings.blocked or 0.0) + waited)
        return replace(self, start_ms=start_ms, timings=timings)


@dataclass(slots=True, kw_only=True)
class Recording:
    """A load: its exchanges in the order of their start."""

    form: str
    exchanges: list[Exchange]
    url: str | None = None
    """Of the page, where the recorder says it."""
    loaded_ms: float | None = None
    """Load event, on the clock of the exchanges' starts."""
    complete_ms: float | None = None
    """DOMContentLoaded, on that clock."""
    creator: str | None = None
    browser: str | None = None
    recorded: str | None = None
    sha256: str | None = None
    is_on_ticks: bool = False
    """Its clock is the one of Chromium's network log, monotonic, and not Unix time."""
    async_stacks: bool = False
    """Whether the recorder followed stacks through timers and promises; if not told, those that go on say so."""
    is_parser_sure: bool = False
    """Whether the parser is named only for what it found itself: stacks of scripts go on, or it is asked for."""
    losses: Counter[str] = field(default_factory=Counter)
    """What was left out or is not told, with the number of requests; 0 for all of it."""

    def lose(self, what: str, count: int = 1) -> None:
        """Note something lost."""
        self.losses[what] += count
