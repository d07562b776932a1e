"""The settings of a condition fixed at a browser's start, and the offers needed from the page's site.

For: pure mapping from a condition to a browser's settings and to a site's. Not for: starting browsers (`browsers`) or
commands to the edge (`edge_state`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resolab.basics.protocols import OVER_HTTP, find_facts
from resolab.basics.records import (
    BrowserKind,
    BrowserPreset,
    ConnectionState,
    DnsTransport,
    DohMethod,
    H3Discovery,
    HandshakeMode,
    HttpVersion,
    NameResolution,
    ResolverPath,
)
from resolab.browser import BrowserSettings, ClearedState, DohSettings
from resolab.browser.chromium.headless_shell import EVERYTHING
from resolab.browser.presets import preset
from resolab.lab import engine, layout
from resolab.lab.artifacts import NOTHING_KEPT, KeptFolders
from resolab.lab.layout import Http3Offer
from resolab.lab.offers import choose_offer
from resolab.plan import RESOLVER_NAME, Condition
from resolab.plan.condition import sends_doh
from resolab.plan.factors import applies
from resolab.plan.preset_levels import browser_looks_up
from resolab.plan.software import EDGE

NAMES_OF_THE_LAB = (layout.EVERY_PAGES_NAME,)


@dataclass(frozen=True, slots=True)
class BrowserSetup:
    """The settings of a browser process, as far as conditions differ.

    Every stub and every gateway listens at the same address and only one at a time. So a browser behind a stub or
    gateway serves all transports: `dns_transport` is then `None`.
    """

    browser: str
    """The browser's name in the plan."""
    kind: BrowserKind
    binary: Path | None
    """The program of a plan's own build; `None`: the machine's stock browser."""
    resolver_path: ResolverPath
    dns_transport: DnsTransport | None
    http_version: HttpVersion
    h3_discovery: H3Discovery
    name_resolution: NameResolution
    doh_method: DohMethod | None
    browser_preset: BrowserPreset | None = None
    resolver_software: str = EDGE
    """The software asked by the browser itself; behind a stub or gateway always the edge's name."""


def choose_way(condition: Condition) -> BrowserSetup:
    """Return the browser settings for a condition; conditions with other differences share the browser."""
    native = condition.resolver_path is ResolverPath.NATIVE
    return BrowserSetup(
        browser=condition.browser,
        kind=condition.browser_kind,
        binary=condition.browser_build.path,
        resolver_path=condition.resolver_path,
        dns_transport=condition.dns_transport if native else None,
        http_version=condition.http_version,
        h3_discovery=condition.h3_discovery if applies("h3_discovery", condition) else H3Discovery.FORCED,
        name_resolution=condition.name_resolution,
        doh_method=condition.doh_method if applies("doh_method", condition) else None,
        browser_preset=condition.browser_preset,
        resolver_software=condition.resolver_software if native else EDGE,
    )


def probes(way: BrowserSetup) -> bool:
    """Return True when the browser sends background queries to its resolver.

    These queries follow some seconds after the browser's start (`browser.chromium.driver`).
    """
    return way.kind is BrowserKind.CHROMIUM and way.dns_transport in OVER_HTTP


def looks_up(condition: Condition) -> bool:
    """Return True when the browser looks up the page's names; a preset may give the addresses instead."""
    return browser_looks_up(condition)


def warms_up(condition: Condition) -> bool:
    """Return True when the page is loaded once before the measured load.

    Always true without a study's preset. With a preset, true only when the load needs a ticket or a DNS connection from
    a warm-up. Both studies did the same.
    """
    if condition.browser_preset is None:
        return True
    full = HandshakeMode.FULL
    tickets = condition.requested_handshake_mode is not full or condition.requested_dns_handshake_mode is not full
    return tickets or condition.dns_connection_state is ConnectionState.WARM


def choose_forgotten_state(condition: Condition) -> ClearedState:
    """Return the browser's state to forget after the warm-up; tickets are controlled by the edge."""
    if condition.browser_kind is BrowserKind.CHROMIUM_HEADLESS_SHELL:
        return EVERYTHING
    keeps_doh = _keeps_doh_connection(condition)
    chromium = condition.browser_kind is BrowserKind.CHROMIUM
    return ClearedState(
        # A site that is found by Alt-Svc lets nothing be stored.
        http_cache=choose_offer(condition) is not Http3Offer.ALT_SVC,
        # Chromium closes all or none: then the page's connections are closed by the edge alone.
        sockets=not (keeps_doh and chromium),
        doh_connection=not keeps_doh,
    )


def _keeps_doh_connection(condition: Condition) -> bool:
    return sends_doh(condition) and condition.dns_connection_state is ConnectionState.WARM


@dataclass(frozen=True, slots=True)
class TestbedPaths:
    """The settings shared by every browser of a testbed."""

    path_pid: int
    ca_file: Path
    addresses: Mapping[str, str]
    """The addresses of the pages' hosts."""
    folder: Path
    hosts_file: Path
    """The hosts file with the resolver's name, so the name needs no query."""
    hosts_without_h3: frozenset[str] = frozenset()
    resolver_addresses: Mapping[str, str] = field(default_factory=layout.assign_resolver_addresses)
    """The addresses of the plan's resolvers, the edge among them."""
    kept: KeptFolders = NOTHING_KEPT
    key_log_file: Path | None = None
    """The file for the browsers' secrets."""


def build_settings(way: BrowserSetup, surroundings: TestbedPaths, *, start_number: int = 1) -> BrowserSettings:
    """Return a browser's settings; `start_number` counts the testbed's browsers and distinguishes their logs."""
    settings = BrowserSettings(
        resolvable_names=NAMES_OF_THE_LAB,
        http_version=way.http_version,
        h3_discovery=way.h3_discovery,
        h3_hosts=tuple(host for host in surroundings.addresses if host not in surroundings.hosts_without_h3),
        name_resolution=way.name_resolution,
        doh=_doh(way),
        ca_file=surroundings.ca_file,
        scratch_folder=surroundings.folder,
        screenshot_folder=surroundings.kept.screenshot_folder,
        key_log_file=surroundings.key_log_file,
        binary=way.binary,
        netlog_file=_netlog_file(way, surroundings, start_number),
    )
    if way.browser_preset is None:
        return settings
    return preset(way.browser_preset).apply(settings, addresses=surroundings.addresses)


def _netlog_file(way: BrowserSetup, surroundings: TestbedPaths, start_number: int) -> Path | None:
    """Return the log file of a browser process: only Chromium's, from start to end."""
    folder = surroundings.kept.netlog_folder
    if folder is None or way.kind is BrowserKind.FIREFOX:
        return None
    own_name = None if way.binary is None else way.browser
    software = None if way.resolver_software == EDGE else way.resolver_software
    levels = [own_name, way.resolver_path, way.dns_transport, way.http_version, way.browser_preset, software]
    words = ".".join(str(level) for level in levels if level is not None)
    return folder / f"{start_number:04}.{words}.json"


def build_prefix(way: BrowserSetup, surroundings: TestbedPaths) -> list[str]:
    """Return the prefix placing the browser in the path's client host with its name server."""
    is_native = way.resolver_path is ResolverPath.NATIVE
    resolver_address = surroundings.resolver_addresses[way.resolver_software]
    return engine.enter_prefix(
        surroundings.path_pid,
        "client",
        nameserver=resolver_address if is_native else layout.STUB_ADDRESS,
        hosts_file=surroundings.hosts_file if _doh(way) else None,
    )


def _doh(way: BrowserSetup) -> DohSettings | None:
    http_version = None if way.dns_transport is None else find_facts(way.dns_transport).http_version
    if http_version is None:
        return None
    return DohSettings(
        host=RESOLVER_NAME,
        address=layout.RESOLVER_ADDRESS,
        http_version=http_version,
        method=way.doh_method,
    )
