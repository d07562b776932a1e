"""What a plan is made of: one condition, the levels of its factors, the levels others are compared with.

For: shapes. Not for: which conditions a plan has (`model`) or which of them are compared (`comparison`).
"""

from dataclasses import dataclass, fields
from typing import Any, Literal

from resolab.plan.factors import FACTORS, level_of, word_of
from resolab.records import (
    BrowserName,
    BrowserPreset,
    ConnectionState,
    DnsTransport,
    DohMethod,
    H3Discovery,
    HandshakeMode,
    HttpVersion,
    NameResolution,
    ResolverCache,
    ResolverPath,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One level of each factor, and how the browser reaches that transport."""

    page: str
    profile: str
    dns_transport: DnsTransport
    http_version: HttpVersion
    requested_handshake_mode: HandshakeMode
    resolver_path: ResolverPath
    browser: BrowserName = BrowserName.CHROMIUM
    h3_discovery: H3Discovery = H3Discovery.FORCED
    name_resolution: NameResolution = NameResolution.BUILT_IN
    doh_method: DohMethod | None = None
    """None: as the browser does it by itself."""
    dns_connection_state: ConnectionState = ConnectionState.COLD
    requested_dns_handshake_mode: HandshakeMode = HandshakeMode.FULL
    resolver_extra_rtt_ms: float = 0.0
    """How far the resolver is beyond the access link, both directions together."""
    resolver_cache: ResolverCache = ResolverCache.HIT
    browser_preset: BrowserPreset | None = None
    named: tuple[str, ...] = ()
    """The optional factors its plan names, which its identifier therefore has."""
    replicate: int = 1
    """Which copy it is of a condition the plan repeats; copies from 2 on are compared with copy 1 only."""

    @property
    def id(self) -> str:
        """The levels joined in the order of the factors, e.g. `example.4g.doq.h3.zero_rtt`.

        The levels of the optional factors the plan names follow, e.g. `example.4g.doh.h3.full.firefox.native`, then
        `copy2` for a second copy.
        """
        words = [word_of(getattr(self, factor), factor) for factor in (*FACTORS, *self.named)]
        return ".".join([*words, *([f"copy{self.replicate}"] if self.replicate > 1 else [])])


@dataclass(frozen=True, slots=True)
class Factors:
    """The levels of every factor, in the plan's order."""

    page: tuple[str, ...]
    profile: tuple[str, ...]
    dns_transport: tuple[DnsTransport, ...]
    http_version: tuple[HttpVersion, ...]
    requested_handshake_mode: tuple[HandshakeMode, ...]
    browser: tuple[BrowserName, ...] = (BrowserName.CHROMIUM,)
    h3_discovery: tuple[H3Discovery, ...] = (H3Discovery.FORCED,)
    name_resolution: tuple[NameResolution, ...] = (NameResolution.BUILT_IN,)
    doh_method: tuple[DohMethod | None, ...] = (None,)
    dns_connection_state: tuple[ConnectionState, ...] = (ConnectionState.COLD,)
    requested_dns_handshake_mode: tuple[HandshakeMode, ...] = (HandshakeMode.FULL,)
    resolver_extra_rtt_ms: tuple[float, ...] = (0.0,)
    resolver_cache: tuple[ResolverCache, ...] = (ResolverCache.HIT,)
    browser_preset: tuple[BrowserPreset | None, ...] = (None,)
    named: tuple[str, ...] = ()
    """The optional factors the plan names, in the order of identifiers."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The levels every other condition of the same page and profile is compared with; None keeps the condition's."""

    dns_transport: DnsTransport | None = None
    http_version: HttpVersion | None = None
    requested_handshake_mode: HandshakeMode | None = None
    browser: BrowserName | None = None
    resolver_path: ResolverPath | None = None
    h3_discovery: H3Discovery | None = None
    name_resolution: NameResolution | None = None
    doh_method: DohMethod | Literal["default"] | None = None
    dns_connection_state: ConnectionState | None = None
    requested_dns_handshake_mode: HandshakeMode | None = None
    resolver_extra_rtt_ms: float | None = None
    resolver_cache: ResolverCache | None = None
    browser_preset: BrowserPreset | Literal["none"] | None = None

    def levels(self) -> dict[str, Any]:
        """Levels it names, by factor, as a condition has them."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}
        return {factor: level_of(factor, word) for factor, word in named.items() if word is not None}
