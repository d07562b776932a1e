"""The plan as the rest of resolab sees it: checked, frozen, without any file behind it.

For: factors, conditions and the baseline of each. Not for: reading TOML (`load`) or ordering trials (`order`).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from resolab.plan.factors import FACTORS, OPTIONAL_FACTORS, Selection, level_of, selects, word_of
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
    named: tuple[str, ...] = ()
    """The optional factors its plan names, which its identifier therefore has."""

    @property
    def id(self) -> str:
        """The levels joined in the order of the factors, e.g. `example.4g.doq.h3.zero_rtt`.

        The levels of the optional factors the plan names follow, e.g. `example.4g.doh.h3.full.firefox.native`.
        """
        return ".".join(word_of(getattr(self, factor)) for factor in (*FACTORS, *self.named))


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

    def levels(self) -> dict[str, Any]:
        """Levels it names, by factor, as a condition has them."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}
        return {factor: level_of(factor, word) for factor, word in named.items() if word is not None}


@dataclass(frozen=True, slots=True)
class Limits:
    """When a load is given up, and when a trial is flagged."""

    page_timeout_s: float = 30.0
    lateness_p99_ms: float = 0.5


@dataclass(frozen=True, slots=True)
class Instrument:
    """How the instrument itself is set."""

    keep_awake: bool = True
    failure_screenshots: bool = False
    """Whether a picture of every failed load is kept in the dataset."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One study: its question, factors, baseline, limits, and the text it was read from."""

    name: str
    question: str
    seed: int
    blocks: int
    factors: Factors
    resolver_path: Mapping[DnsTransport, tuple[ResolverPath, ...]]
    baseline: Baseline
    exclude: tuple[Selection, ...] = ()
    limits: Limits = field(default_factory=Limits)
    instrument: Instrument = field(default_factory=Instrument)
    source_text: str = ""

    def combinations(self) -> list[Condition]:
        """Every combination of levels, in the plan's order."""
        names = (*FACTORS, *OPTIONAL_FACTORS)
        given = (dict(zip(names, levels, strict=True)) for levels in itertools.product(*map(self._levels, names)))
        return [
            Condition(**levels, resolver_path=path, named=self.factors.named)
            for levels in given
            for path in self.resolver_path[levels["dns_transport"]]
        ]

    def conditions(self) -> list[Condition]:
        """Every combination of levels that the plan does not exclude, in the plan's order."""
        return [one for one in self.combinations() if not any(selects(selection, one) for selection in self.exclude)]

    def words(self, factor: str) -> tuple[str, ...]:
        """List the plan's levels of a factor, named or not, as words."""
        return tuple(word_of(level) for level in self._levels(factor))

    def varying(self) -> tuple[str, ...]:
        """List the optional factors it names in which its conditions differ, in the order of identifiers."""
        conditions = self.conditions()
        return tuple(factor for factor in self.factors.named if len({getattr(one, factor) for one in conditions}) > 1)

    def baseline_of(self, condition: Condition) -> Condition:
        """Find the condition of the same page and profile that `condition` is compared with; may be itself."""
        reference = replace(condition, **self.baseline.levels())
        paths = self.resolver_path[reference.dns_transport]
        if self.baseline.resolver_path is None and reference.resolver_path not in paths:
            reference = replace(reference, resolver_path=paths[0])
        return reference

    def _levels(self, factor: str) -> tuple[Any, ...]:
        if factor == "resolver_path":
            return tuple(dict.fromkeys(path for paths in self.resolver_path.values() for path in paths))
        levels: tuple[Any, ...] = getattr(self.factors, factor)
        return levels
