"""The plan as the rest of resolab sees it: checked, frozen, without any file behind it.

For: factors, conditions and the baseline of each. Not for: reading TOML (`load`) or ordering trials (`order`).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from resolab.records import (
    BrowserName,
    ConnectionState,
    DnsTransport,
    DohMethod,
    H3Discovery,
    HandshakeMode,
    HttpVersion,
    NameResolution,
    ResolverPath,
)

FACTORS = ("page", "profile", "dns_transport", "http_version", "requested_handshake_mode")
"""The factors, in the order in which their levels make a condition's identifier."""


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

    @property
    def id(self) -> str:
        """The levels joined in the order of the factors, e.g. `example.4g.doq.h3.zero_rtt`."""
        return ".".join(str(getattr(self, factor)) for factor in FACTORS)


@dataclass(frozen=True, slots=True)
class Factors:
    """The levels of every factor, in the plan's order."""

    page: tuple[str, ...]
    profile: tuple[str, ...]
    dns_transport: tuple[DnsTransport, ...]
    http_version: tuple[HttpVersion, ...]
    requested_handshake_mode: tuple[HandshakeMode, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The levels every other condition of the same page and profile is compared with; None keeps the condition's."""

    dns_transport: DnsTransport | None = None
    http_version: HttpVersion | None = None
    requested_handshake_mode: HandshakeMode | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """When a load is given up, and when a trial is flagged."""

    page_timeout_s: float = 30.0
    lateness_p99_ms: float = 0.5


@dataclass(frozen=True, slots=True)
class Instrument:
    """How the instrument itself is set."""

    keep_awake: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """One study: its question, factors, baseline, limits, and the text it was read from."""

    name: str
    question: str
    seed: int
    blocks: int
    factors: Factors
    resolver_path: Mapping[DnsTransport, ResolverPath]
    baseline: Baseline
    limits: Limits = field(default_factory=Limits)
    instrument: Instrument = field(default_factory=Instrument)
    source_text: str = ""

    def conditions(self) -> list[Condition]:
        """Every combination of levels, in the plan's order."""
        levels = self.factors
        return [
            Condition(page, profile, transport, version, mode, self.resolver_path[transport])
            for page, profile, transport, version, mode in itertools.product(
                levels.page,
                levels.profile,
                levels.dns_transport,
                levels.http_version,
                levels.requested_handshake_mode,
            )
        ]

    def baseline_of(self, condition: Condition) -> Condition:
        """Find the condition of the same page and profile that `condition` is compared with; may be itself."""
        baseline = self.baseline
        transport = baseline.dns_transport or condition.dns_transport
        return Condition(
            page=condition.page,
            profile=condition.profile,
            dns_transport=transport,
            http_version=baseline.http_version or condition.http_version,
            requested_handshake_mode=baseline.requested_handshake_mode or condition.requested_handshake_mode,
            resolver_path=self.resolver_path[transport],
        )
