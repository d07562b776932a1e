"""The factors of a plan: their names, their levels as words, and what a plan has that names no level of one.

For: one list that reading, identifiers, exclusions, tables and schemas share. Not for: which levels go together
(`support`) or what a plan chose (`model`).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

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

FACTORS = ("page", "profile", "dns_transport", "http_version", "requested_handshake_mode")
"""The factors every plan names, in the order in which their levels make a condition's identifier."""

OPTIONAL_FACTORS: Mapping[str, Any] = {
    "browser": BrowserName.CHROMIUM,
    "h3_discovery": H3Discovery.FORCED,
    "name_resolution": NameResolution.BUILT_IN,
    "doh_method": None,
    "dns_connection_state": ConnectionState.COLD,
    "requested_dns_handshake_mode": HandshakeMode.FULL,
    "resolver_extra_rtt_ms": 0.0,
    "resolver_cache": ResolverCache.HIT,
    "browser_preset": None,
}
"""The factors a plan may name, each with the only level it has in a plan that does not."""

NAMED_ORDER = (
    "browser",
    "resolver_path",
    "h3_discovery",
    "name_resolution",
    "doh_method",
    "dns_connection_state",
    "requested_dns_handshake_mode",
    "resolver_extra_rtt_ms",
    "resolver_cache",
    "browser_preset",
)
"""Order in which the levels of named optional factors follow in a condition's identifier. `resolver_path` is one when
the plan gives a list for any transport."""

NUMBERS: Mapping[str, tuple[float, float]] = {"resolver_extra_rtt_ms": (0.0, 10_000.0)}
"""The factors whose levels are numbers, with the lowest and the highest; as words they have six digits."""

ABSENT_WORDS: Mapping[str, str] = {"doh_method": "default", "browser_preset": "none"}
"""Words for the level `None`: the browser's own DoH method, no preset."""

_VOCABULARIES: Mapping[str, type[StrEnum]] = {
    "dns_transport": DnsTransport,
    "http_version": HttpVersion,
    "requested_handshake_mode": HandshakeMode,
    "browser": BrowserName,
    "resolver_path": ResolverPath,
    "h3_discovery": H3Discovery,
    "name_resolution": NameResolution,
    "doh_method": DohMethod,
    "dns_connection_state": ConnectionState,
    "requested_dns_handshake_mode": HandshakeMode,
    "resolver_cache": ResolverCache,
    "browser_preset": BrowserPreset,
}

Selection = Mapping[str, Sequence[str]]
"""Levels by factor; selects the conditions that have one of them in every factor it names."""


def allowed_words(factor: str) -> tuple[str, ...]:
    """List a factor's closed vocabulary; pages, profiles and numbers have none."""
    absent = ABSENT_WORDS.get(factor)
    return (*([absent] if absent else []), *(str(level) for level in _VOCABULARIES[factor]))


def level_of(factor: str, word: str) -> Any:
    """Turn a plan's word into the level a condition has."""
    if factor in NUMBERS:
        return float(word)
    if word == ABSENT_WORDS.get(factor):
        return None
    return _VOCABULARIES[factor](word) if factor in _VOCABULARIES else word


def word_of(level: object, factor: str = "doh_method") -> str:
    """Turn a condition's level into the plan's word; which word `None` has, its factor says."""
    if level is None:
        return ABSENT_WORDS[factor]
    return f"{level:g}" if isinstance(level, float) else str(level)


def selects(selection: Selection, condition: object) -> bool:
    """Whether a condition has one of the selection's levels in every factor the selection names."""
    return all(word_of(getattr(condition, factor), factor) in words for factor, words in selection.items())
