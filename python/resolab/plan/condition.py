"""The factors, declared once: the fields of a condition, with all else derived from type, default and `FactorOptions`.

For: the shapes of a condition, of a plan's levels, and of a baseline's levels. Not for: a plan's conditions (`model`),
its comparisons (`comparison`) or impossible conditions (`support`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from resolab.basics.protocols import OVER_HTTP, WITHOUT_CONNECTION, has_handshake
from resolab.basics.records import (
    AnswerPush,
    BrowserKind,
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
    QuestionPacking,
    ResolverCache,
    ResolverPath,
    TrialKind,
)
from resolab.plan.browser_builds import STOCK_BROWSERS, BrowserBuild, BrowserBuilds
from resolab.plan.factor import ConditionLevels, Factor, FactorOptions, FactorSubject, read_factors
from resolab.plan.live.settings import LAB
from resolab.plan.software.settings import EDGE

EVERY_KIND = frozenset(TrialKind)
_EXCHANGE = frozenset({TrialKind.EXCHANGE})
_STUDY = frozenset({TrialKind.STUDY})
_LOAD_OR_FETCH = frozenset({TrialKind.PAGE_LOAD, TrialKind.FETCH})
_ALL_BUT_STUDY = EVERY_KIND - _STUDY
_ALL_BUT_FETCH = EVERY_KIND - {TrialKind.FETCH}


def sends_doh(one: ConditionLevels) -> bool:
    """Return True when the browser itself sends queries over DoH or DoH3."""
    return one.resolver_path == ResolverPath.NATIVE and one.dns_transport in OVER_HTTP


def goes_by_gateway(one: ConditionLevels) -> bool:
    """Return True when the page is loaded through the gateway."""
    return one.resolver_path == ResolverPath.GATEWAY


def _has_sharing(one: ConditionLevels) -> bool:
    """Return True when connection sharing is configurable: by a gateway, a fetch, or servers with an ORIGIN frame."""
    return goes_by_gateway(one) or _fetches(one) or one.connection_sharing == ConnectionSharing.ORIGIN_FRAME


def _fetches(one: ConditionLevels) -> bool:
    return getattr(one, "kind", None) is TrialKind.FETCH


def _requests_early(one: ConditionLevels) -> bool:
    """Return True when the document can be requested in the flight of its name's query."""
    return goes_by_gateway(one) or _fetches(one)


def _goes_by_stub(one: ConditionLevels) -> bool:
    return one.resolver_path == ResolverPath.STUB


def _sends_no_doh(one: ConditionLevels) -> bool:
    return not sends_doh(one)


def _loads_over_h3(one: ConditionLevels) -> bool:
    return one.http_version == HttpVersion.H3


def _asks_over_connection(one: ConditionLevels) -> bool:
    return one.dns_transport not in WITHOUT_CONNECTION


def _keeps_connection(one: ConditionLevels) -> bool:
    return one.dns_connection_state == ConnectionState.WARM


def _shakes_hands_to_ask(one: ConditionLevels) -> bool:
    return has_handshake(one.dns_transport) and one.dns_connection_state == ConnectionState.COLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One level of each factor, and the browser's path to the transport.

    A field with `FactorOptions` is a factor. In the order of the fields, the levels make the condition's identifier.
    """

    page: Annotated[str, FactorOptions(subject=FactorSubject.PAGE, kinds=EVERY_KIND)]
    """In an exchange, the page with the queried names."""
    profile: Annotated[str, FactorOptions(subject=FactorSubject.NETWORK, kinds=EVERY_KIND)]
    dns_transport: Annotated[DnsTransport, FactorOptions(kinds=EVERY_KIND)]
    http_version: Annotated[HttpVersion, FactorOptions(subject=FactorSubject.PAGE)]
    requested_handshake_mode: Annotated[
        HandshakeMode,
        FactorOptions(labels={"full": "full", "resumed": "resumed", "zero_rtt": "0-RTT"}, subject=FactorSubject.PAGE),
    ]
    browser: Annotated[
        str,
        FactorOptions(
            labels={"chromium": "Chromium", "firefox": "Firefox"},
            stock_names=tuple(STOCK_BROWSERS),
            subject=FactorSubject.CLIENT,
        ),
    ] = "chromium"
    """The name of a stock browser or of one of `browser_builds`."""
    resolver_path: Annotated[
        ResolverPath,
        FactorOptions(
            labels={"native": "native", "stub": "by stub", "gateway": "by gateway"},
            subject=FactorSubject.CLIENT,
            of_transport=True,
        ),
    ]
    h3_discovery: Annotated[
        H3Discovery,
        FactorOptions(
            labels={"forced": "H3 forced", "https_record": "H3 by HTTPS record", "alt_svc": "H3 by Alt-Svc"},
            subject=FactorSubject.PAGE,
            applies=_loads_over_h3,
        ),
    ] = H3Discovery.FORCED
    name_resolution: Annotated[
        NameResolution,
        FactorOptions(
            labels={"built_in": "built-in resolver", "getaddrinfo": "getaddrinfo"},
            subject=FactorSubject.CLIENT,
            applies=_sends_no_doh,
        ),
    ] = NameResolution.BUILT_IN
    doh_method: Annotated[
        DohMethod | None,
        FactorOptions(
            labels={"default": "method by default", "get": "GET", "post": "POST"},
            absent_word="default",
            subject=FactorSubject.CLIENT,
            applies=sends_doh,
        ),
    ] = None
    """`None`: the browser's default."""
    dns_connection_state: Annotated[
        ConnectionState,
        FactorOptions(
            labels={"cold": "DNS cold", "warm": "DNS warm"}, applies=_asks_over_connection, kinds=_ALL_BUT_FETCH
        ),
    ] = ConnectionState.COLD
    requested_dns_handshake_mode: Annotated[
        HandshakeMode,
        FactorOptions(
            labels={"full": "DNS full", "resumed": "DNS resumed", "zero_rtt": "DNS 0-RTT"},
            applies=_shakes_hands_to_ask,
            kinds=EVERY_KIND,
        ),
    ] = HandshakeMode.FULL
    resolver_extra_rtt_ms: Annotated[
        float, FactorOptions(bounds=(0.0, 10_000.0), subject=FactorSubject.RESOLVER, kinds=EVERY_KIND)
    ] = 0.0
    """The resolver's distance beyond the access link, in ms, both directions together."""
    resolver_cache: Annotated[ResolverCache, FactorOptions(subject=FactorSubject.RESOLVER, kinds=EVERY_KIND)] = (
        ResolverCache.HIT
    )
    browser_preset: Annotated[BrowserPreset | None, FactorOptions(absent_word="none", subject=FactorSubject.CLIENT)] = (
        None
    )
    connection_sharing: Annotated[
        ConnectionSharing,
        FactorOptions(
            labels={
                "separate": "a connection a name",
                "browser_rule": "shared as browsers do",
                "origin_frame": "shared by ORIGIN frame",
                "certificate": "shared by certificate",
                "resolver_connection": "on the resolver's connection",
            },
            applies=_has_sharing,
            kinds=_LOAD_OR_FETCH,
        ),
    ] = ConnectionSharing.SEPARATE
    """The connections shared by a gateway among a page's names; with `origin_frame` servers announce their origins."""
    speculation: Annotated[
        PageSpeculation,
        FactorOptions(
            labels={"off": "in turn", "document": "speculative"}, applies=_requests_early, kinds=_LOAD_OR_FETCH
        ),
    ] = PageSpeculation.OFF
    """True when a gateway requests the document in the flight of its name's query."""
    query_gathering: Annotated[
        QueryGathering,
        FactorOptions(labels={"off": "queries alone", "on": "queries gathered"}, applies=_goes_by_stub),
    ] = QueryGathering.OFF
    """True when a stub sends simultaneous queries in one message."""
    answer_push: Annotated[
        AnswerPush,
        FactorOptions(labels={"off": "names looked up", "page_names": "answers pushed"}, applies=_goes_by_stub),
    ] = AnswerPush.OFF
    """True when a stub has the answers for the page's names before the browser's queries."""
    resolver_miss_ratio: Annotated[float, FactorOptions(bounds=(0.0, 1.0))] = 0.0
    """Share of a page's names missing from the resolver's cache, drawn name by name for each block."""
    idle_gap_ms: Annotated[int, FactorOptions(bounds=(0, 600_000), applies=_keeps_connection, kinds=_EXCHANGE)] = 0
    """The pause between the warm-up's query and the measured query over the same connection, in ms."""
    names_count: Annotated[int, FactorOptions(bounds=(1, 64), kinds=_EXCHANGE)] = 1
    """The number of names queried at the same time."""
    question_packing: Annotated[
        QuestionPacking,
        FactorOptions(
            labels={"separate": "a message a question", "one_message": "all questions in one message"},
            kinds=_EXCHANGE,
        ),
    ] = QuestionPacking.SEPARATE
    """The messages of the queries for several names; `one_message` needs partial responses."""
    study_arm: Annotated[str | None, FactorOptions(absent_word="none", kinds=_STUDY)] = None
    """The treatment compared by a study, in the study's own words."""
    study_case: Annotated[str | None, FactorOptions(absent_word="none", kinds=_STUDY)] = None
    """The circumstances within which a study compares its arms, in the study's own words."""
    resolver: Annotated[str, FactorOptions(subject=FactorSubject.RESOLVER)] = LAB
    """The resolver's name in a live plan."""
    resolver_software: Annotated[str, FactorOptions(subject=FactorSubject.RESOLVER, kinds=_ALL_BUT_STUDY)] = EDGE
    """The resolver's program in the lab: the edge, or a name of the plan's `[software]`."""
    named: tuple[str, ...] = ()
    """The optional factors named by the plan, and therefore present in the identifier."""
    kind: TrialKind = TrialKind.PAGE_LOAD
    study: str | None = None
    """The study's name, in a trial of a study."""
    browser_builds: BrowserBuilds = field(default_factory=lambda: STOCK_BROWSERS, compare=False, repr=False)
    """The plan's builds of browsers, by name."""
    replicate: int = 1
    """The number of the copy, for a condition repeated by the plan; copies are compared only with each other."""

    @property
    def page_handshake_mode(self) -> HandshakeMode:
        """The handshake requested for the page's connection; a fetch requests the same handshake everywhere."""
        return self.requested_dns_handshake_mode if self.kind is TrialKind.FETCH else self.requested_handshake_mode

    @property
    def browser_build(self) -> BrowserBuild:
        """The build of the condition's browser."""
        return self.browser_builds[self.browser]

    @property
    def browser_kind(self) -> BrowserKind:
        """The kind of the condition's browser; the only place that knows the kind of a browser's name."""
        return self.browser_build.kind

    @property
    def own_browser_kind(self) -> BrowserKind | None:
        """The kind of a plan's own build, as in records; `None` for a stock browser, whose name is its kind."""
        return None if self.browser_build.path is None else self.browser_build.kind

    @property
    def first(self) -> "Condition":
        """Return the first copy of this condition; the first returns itself."""
        return replace(self, replicate=1)

    @property
    def id(self) -> str:
        """The levels joined in the order of the factors, e.g. `example.4g.doq.h3.zero_rtt`, or `4g.doq` of an exchange.

        The levels of the optional factors the plan names follow, e.g. `example.4g.doh.h3.full.firefox.native`, then
        `copy2` for a second copy.
        """
        factors = (*list_needed_factors(self.kind), *self.named)
        words = [DECLARED[factor].format_level(getattr(self, factor)) for factor in factors]
        return ".".join([*words, *([f"copy{self.replicate}"] if self.replicate > 1 else [])])


DECLARED: Mapping[str, Factor] = read_factors(Condition)
"""Every factor by name, in the order of the levels in a condition's identifier."""
_IN_EVERY_PLAN = tuple(name for name, one in DECLARED.items() if not one.is_optional and not one.about.of_transport)
_NEEDED: Mapping[TrialKind, tuple[str, ...]] = {
    TrialKind.PAGE_LOAD: _IN_EVERY_PLAN,
    TrialKind.EXCHANGE: ("profile", "dns_transport"),
    TrialKind.FETCH: ("page", "profile", "dns_transport"),
    TrialKind.STUDY: ("profile", "dns_transport"),
}
STUDY_FACTORS = tuple(name for name, one in DECLARED.items() if one.belongs_to(TrialKind.STUDY))
"""The factors available to studies; each study declares its own among these."""


def list_needed_factors(kind: TrialKind) -> tuple[str, ...]:
    """List the factors that every plan of a kind names, in the order of a condition's identifier."""
    return _NEEDED[kind]


@dataclass(frozen=True, slots=True)
class Factors:
    """The levels a plan has of every factor but `resolver_path`, in the plan's order."""

    levels: Mapping[str, tuple[Any, ...]]
    named: tuple[str, ...] = ()
    """The optional factors the plan names, in the order of identifiers."""

    @property
    def page(self) -> tuple[str, ...]:
        """Return the plan's pages."""
        return self.levels["page"]

    @property
    def profile(self) -> tuple[str, ...]:
        """Return the plan's access profiles."""
        return self.levels["profile"]

    @property
    def dns_transport(self) -> tuple[DnsTransport, ...]:
        """Transports of the page's look-up."""
        return self.levels["dns_transport"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The levels of the baseline of every other condition of the same page and profile.

    By factor, in a condition's own values; for other factors a condition keeps its own level.
    """

    levels: Mapping[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{factor} {DECLARED[factor].format_level(level)}" for factor, level in self.levels.items())
