"""Reading a plan: TOML in, a checked `Plan` out, or one line that names file, key and what is allowed.

For: every check that can be made before a run. Not for: whether the machine can run it.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from resolab.errors import ConfigurationError
from resolab.plan.corpus import Corpus
from resolab.plan.model import Baseline, Factors, Instrument, Limits, Plan
from resolab.plan.section import Section
from resolab.plan.support import check_http_version, check_resolver_path
from resolab.records import DnsTransport, HandshakeMode, HttpVersion, ResolverPath

HIGHEST_SEED = 2**63 - 1
HIGHEST_BLOCKS = 100_000
# Names of pages and profiles become parts of condition identifiers, which are joined by dots.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def load_plan(path: Path, corpus: Corpus | None = None, *, seed: int | None = None, blocks: int | None = None) -> Plan:
    """Read and check a plan file; `seed` and `blocks` replace the plan's."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(
            f"failed to read plan {path}: {reason}; give the path of a plan's TOML file"
        ) from error
    plan = parse_plan(text, str(path), corpus or Corpus.of_project())
    if seed is not None and not 0 <= seed <= HIGHEST_SEED:
        raise ConfigurationError(f"{path}: seed: must be from 0 to {HIGHEST_SEED}, not {seed}")
    if blocks is not None and not 1 <= blocks <= HIGHEST_BLOCKS:
        raise ConfigurationError(f"{path}: blocks: must be from 1 to {HIGHEST_BLOCKS}, not {blocks}")
    return replace(
        plan,
        seed=plan.seed if seed is None else seed,
        blocks=plan.blocks if blocks is None else blocks,
    )


def parse_plan(text: str, source: str, corpus: Corpus | None) -> Plan:
    """Check a plan's text; without a corpus pages and profiles are not looked up, as when reading an old dataset."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{source}: not valid TOML: {error}") from error
    top = Section(source, table)
    factors = _factors(top.section("factors"), corpus)
    plan = Plan(
        name=top.text("name"),
        question=top.text("question"),
        seed=top.integer("seed", low=0, high=HIGHEST_SEED),
        blocks=top.integer("blocks", low=1, high=HIGHEST_BLOCKS),
        factors=factors,
        resolver_path=_resolver_paths(top.section("resolver_path"), factors, built_only=corpus is not None),
        baseline=_baseline(top.section("baseline"), factors),
        limits=_limits(top.section("limits", required=False)),
        instrument=_instrument(top.section("instrument", required=False)),
        source_text=text,
    )
    top.finish()
    return plan


def _factors(section: Section, corpus: Corpus | None) -> Factors:
    factors = Factors(
        page=_names(section, "page", corpus.pages() if corpus else None),
        profile=_names(section, "profile", corpus.profiles() if corpus else None),
        dns_transport=tuple(DnsTransport(level) for level in section.levels("dns_transport", tuple(DnsTransport))),
        http_version=tuple(HttpVersion(level) for level in section.levels("http_version", tuple(HttpVersion))),
        requested_handshake_mode=tuple(
            HandshakeMode(level) for level in section.levels("requested_handshake_mode", tuple(HandshakeMode))
        ),
    )
    section.finish()
    if corpus is not None:
        for version in factors.http_version:
            check_http_version(section.source, version)
    return factors


def _names(section: Section, key: str, known: tuple[str, ...] | None) -> tuple[str, ...]:
    names = section.levels(key, known)
    for name in names:
        if not NAME.fullmatch(name):
            section.fail(key, f"{name!r} is no name; use letters, digits, - and _")
    return names


def _resolver_paths(section: Section, factors: Factors, *, built_only: bool) -> Mapping[DnsTransport, ResolverPath]:
    allowed = tuple(ResolverPath)
    # A transport that is not among the levels may stand here, so that a plan can be narrowed by one line.
    given = {transport: section.optional_one_of(transport, allowed) for transport in DnsTransport}
    paths = {}
    for transport in factors.dns_transport:
        value = given[transport]
        if value is None:
            section.fail(transport, f"is missing: say how the browser reaches it; allowed: {', '.join(allowed)}")
        paths[transport] = ResolverPath(value)
    section.finish()
    if built_only:
        for transport, resolver_path in paths.items():
            check_resolver_path(section.source, transport, resolver_path)
    return paths


def _baseline(section: Section, factors: Factors) -> Baseline:
    transport = section.optional_one_of("dns_transport", factors.dns_transport)
    version = section.optional_one_of("http_version", factors.http_version)
    mode = section.optional_one_of("requested_handshake_mode", factors.requested_handshake_mode)
    for factor in ("page", "profile"):
        if factor in section:
            section.fail(factor, "no baseline: conditions are compared within their own page and profile")
    section.finish()
    if transport is None and version is None and mode is None:
        section.fail("", "names no level; give at least one of dns_transport, http_version, requested_handshake_mode")
    return Baseline(
        dns_transport=None if transport is None else DnsTransport(transport),
        http_version=None if version is None else HttpVersion(version),
        requested_handshake_mode=None if mode is None else HandshakeMode(mode),
    )


def _limits(section: Section) -> Limits:
    default = Limits()
    limits = Limits(
        page_timeout_s=section.number("page_timeout_s", above=0, high=600, default=default.page_timeout_s),
        lateness_p99_ms=section.number("lateness_p99_ms", above=0, high=1000, default=default.lateness_p99_ms),
    )
    section.finish()
    return limits


def _instrument(section: Section) -> Instrument:
    instrument = Instrument(keep_awake=section.flag("keep_awake", default=Instrument().keep_awake))
    section.finish()
    return instrument
