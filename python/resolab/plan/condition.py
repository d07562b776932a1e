"""The factors, declared once: the fields of a condition, from whose type, default and `About` all else follows.

For: the shapes of a condition, of the levels a plan has, and of those others are compared with. Not for: which
conditions a plan has (`model`), which of them are compared (`comparison`) or which cannot be (`support`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from resolab.plan.factor import About, Factor, HasLevels, Subject, factors_in
from resolab.plan.live.settings import LAB
from resolab.protocols import OVER_HTTP, WITHOUT_CONNECTION, has_handshake
from resolab.records import (
    AnswerPush,
    BrowserName,
    BrowserPreset,
    ConnectionSharing,
    ConnectionState,
    DnsTransport,
    DohMethod,
    H3Discovery,
    HandshakeMode,
    HttpVersion,
    NameResolution,
    PageSpeculation,
    QueryGathering,
    ResolverCache,
    ResolverPath,
)


def sends_doh(one: HasLevels) -> bool:
    """Whether the browser itself asks over DoH or DoH3."""
    return one.resolver_path == ResolverPath.NATIVE and one.dns_transport in OVER_HTTP


def goes_by_gateway(one: HasLevels) -> bool:
    """Whether the page is loaded through the gateway."""
    return one.resolver_path == ResolverPath.GATEWAY


def _has_sharing(one: HasLevels) -> bool:
    """Whether what is shared is set: by a gateway, or by servers that tell the browser."""
    return goes_by_gateway(one) or one.connection_sharing == ConnectionSharing.ORIGIN_FRAME


def _goes_by_stub(one: HasLevels) -> bool:
    return one.resolver_path == ResolverPath.STUB


def _sends_no_doh(one: HasLevels) -> bool:
    return not sends_doh(one)


def _loads_over_h3(one: HasLevels) -> bool:
    return one.http_version == HttpVersion.H3


def _asks_over_connection(one: HasLevels) -> bool:
    return one.dns_transport not in WITHOUT_CONNECTION


def _shakes_hands_to_ask(one: HasLevels) -> bool:
    return has_handshake(one.dns_transport) and one.dns_connection_state == ConnectionState.COLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One level of each factor, and how the browser reaches that transport.

    A field with `About` is a factor; in the order of the fields the levels make the condition's identifier.
    """

    page: Annotated[str, About(subject=Subject.PAGE)]
    profile: Annotated[str, About(subject=Subject.NETWORK)]
    dns_transport: Annotated[DnsTransport, About()]
    http_version: Annotated[HttpVersion, About(subject=Subject.PAGE)]
    requested_handshake_mode: Annotated[
        HandshakeMode,
        About(labels={"full": "full", "resumed": "resumed", "zero_rtt": "0-RTT"}, subject=Subject.PAGE),
    ]
    browser: Annotated[
        BrowserName, About(labels={"chromium": "Chromium", "firefox": "Firefox"}, subject=Subject.CLIENT)
    ] = BrowserName.CHROMIUM
    resolver_path: Annotated[
        ResolverPath,
        About(
            labels={"native": "native", "stub": "by stub", "gateway": "by gateway"},
            subject=Subject.CLIENT,
            of_transport=True,
        ),
    ]
    h3_discovery: Annotated[
        H3Discovery,
        About(
            labels={"forced": "H3 forced", "https_record": "H3 by HTTPS record", "alt_svc": "H3 by Alt-Svc"},
            subject=Subject.PAGE,
            applies=_loads_over_h3,
        ),
    ] = H3Discovery.FORCED
    name_resolution: Annotated[
        NameResolution,
        About(
            labels={"built_in": "built-in resolver", "getaddrinfo": "getaddrinfo"},
            subject=Subject.CLIENT,
            applies=_sends_no_doh,
        ),
    ] = NameResolution.BUILT_IN
    doh_method: Annotated[
        DohMethod | None,
        About(
            labels={"default": "method by default", "get": "GET", "post": "POST"},
            absent_word="default",
            subject=Subject.CLIENT,
            applies=sends_doh,
        ),
    ] = None
    """None: as the browser does it by itself."""
    dns_connection_state: Annotated[
        ConnectionState, About(labels={"cold": "DNS cold", "warm": "DNS warm"}, applies=_asks_over_connection)
    ] = ConnectionState.COLD
    requested_dns_handshake_mode: Annotated[
        HandshakeMode,
        About(
            labels={"full": "DNS full", "resumed": "DNS resumed", "zero_rtt": "DNS 0-RTT"},
            applies=_shakes_hands_to_ask,
        ),
    ] = HandshakeMode.FULL
    resolver_extra_rtt_ms: Annotated[float, About(bounds=(0.0, 10_000.0), subject=Subject.RESOLVER)] = 0.0
    """How far the resolver is beyond the access link, both directions together."""
    resolver_cache: Annotated[ResolverCache, About(subject=Subject.RESOLVER)] = ResolverCache.HIT
    browser_preset: Annotated[BrowserPreset | None, About(absent_word="none", subject=Subject.CLIENT)] = None
    connection_sharing: Annotated[
        ConnectionSharing,
        About(
            labels={
                "separate": "a connection a name",
                "browser_rule": "shared as browsers do",
                "origin_frame": "shared by ORIGIN frame",
                "certificate": "shared by certificate",
                "resolver_connection": "on the resolver's connection",
            },
            applies=_has_sharing,
        ),
    ] = ConnectionSharing.SEPARATE
    """Which connections a gateway shares among a page's names; with `origin_frame` servers tell their origins."""
    speculation: Annotated[
        PageSpeculation,
        About(labels={"off": "in turn", "document": "speculative"}, applies=goes_by_gateway),
    ] = PageSpeculation.OFF
    """Whether a gateway asks for the document in the flight of its name's query."""
    query_gathering: Annotated[
        QueryGathering,
        About(labels={"off": "queries alone", "on": "queries gathered"}, applies=_goes_by_stub),
    ] = QueryGathering.OFF
    """Whether a stub asks queries that come together in one message."""
    answer_push: Annotated[
        AnswerPush,
        About(labels={"off": "names looked up", "page_names": "answers pushed"}, applies=_goes_by_stub),
    ] = AnswerPush.OFF
    """Whether a stub has the answers for the page's names before the browser asks."""
    resolver_miss_ratio: Annotated[float, About(bounds=(0.0, 1.0))] = 0.0
    """Share of a page's names that the resolver has not, drawn name by name for each block."""
    resolver: Annotated[str, About(subject=Subject.RESOLVER)] = LAB
    """Its name in a live plan."""
    named: tuple[str, ...] = ()
    """The optional factors its plan names, which its identifier therefore has."""
    replicate: int = 1
    """Which copy it is of a condition the plan repeats; copies are compared with each other only."""

    @property
    def first(self) -> "Condition":
        """The condition whose copy it is: itself, of a first."""
        return replace(self, replicate=1)

    @property
    def id(self) -> str:
        """The levels joined in the order of the factors, e.g. `example.4g.doq.h3.zero_rtt`.

        The levels of the optional factors the plan names follow, e.g. `example.4g.doh.h3.full.firefox.native`, then
        `copy2` for a second copy.
        """
        words = [DECLARED[factor].word_of(getattr(self, factor)) for factor in (*_IN_EVERY_PLAN, *self.named)]
        return ".".join([*words, *([f"copy{self.replicate}"] if self.replicate > 1 else [])])


DECLARED: Mapping[str, Factor] = factors_in(Condition)
"""Every factor by name, in the order in which the levels make a condition's identifier."""
_IN_EVERY_PLAN = [name for name, one in DECLARED.items() if not one.is_optional and not one.about.of_transport]


@dataclass(frozen=True, slots=True)
class Factors:
    """The levels a plan has of every factor but `resolver_path`, in the plan's order."""

    levels: Mapping[str, tuple[Any, ...]]
    named: tuple[str, ...] = ()
    """The optional factors the plan names, in the order of identifiers."""

    @property
    def page(self) -> tuple[str, ...]:
        """Pages."""
        return self.levels["page"]

    @property
    def profile(self) -> tuple[str, ...]:
        """Access profiles."""
        return self.levels["profile"]

    @property
    def dns_transport(self) -> tuple[DnsTransport, ...]:
        """Transports of the page's look-up."""
        return self.levels["dns_transport"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The levels every other condition of the same page and profile is compared with.

    By factor, as a condition has them; of a factor that is not among them a condition keeps its own level.
    """

    levels: Mapping[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{factor} {DECLARED[factor].word_of(level)}" for factor, level in self.levels.items())
