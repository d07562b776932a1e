"""What of a condition is fixed when a browser starts, and what of it the page's site must offer.

For: pure mapping from a condition to a browser's settings and to a site's. Not for: starting browsers (`browsers`) or
telling the edge (`in_force`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resolab import engine
from resolab.browser import BrowserSettings, Cleared, DohSettings
from resolab.browser.presets import preset
from resolab.plan import RESOLVER_NAME, Condition
from resolab.plan.condition import sends_doh
from resolab.plan.factors import applies
from resolab.protocols import OVER_HTTP, facts_of
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
    ResolverPath,
    TicketPolicy,
)
from resolab.testbed import layout
from resolab.testbed.kept import NOTHING_KEPT, Kept
from resolab.testbed.layout import Offer

NAMES_OF_THE_LAB = (layout.EVERY_PAGES_NAME,)
POLICIES = {
    HandshakeMode.FULL: TicketPolicy.NONE,
    HandshakeMode.RESUMED: TicketPolicy.RESUME,
    HandshakeMode.ZERO_RTT: TicketPolicy.EARLY_DATA,
}
OFFERS = {
    H3Discovery.FORCED: Offer.NOTHING,
    H3Discovery.HTTPS_RECORD: Offer.HTTPS_RECORD,
    H3Discovery.ALT_SVC: Offer.ALT_SVC,
}


@dataclass(frozen=True, slots=True)
class Way:
    """One browser process's settings, as far as conditions differ in them.

    Every stub and every gateway listens at the same address and only one at a time, so that a browser behind one serves
    all transports: `dns_transport` is `None` there.
    """

    browser: BrowserName
    resolver_path: ResolverPath
    dns_transport: DnsTransport | None
    http_version: HttpVersion
    h3_discovery: H3Discovery
    name_resolution: NameResolution
    doh_method: DohMethod | None
    browser_preset: BrowserPreset | None = None


def way_of(condition: Condition) -> Way:
    """Name the browser process a condition needs; conditions that differ elsewhere share it."""
    native = condition.resolver_path is ResolverPath.NATIVE
    return Way(
        browser=condition.browser,
        resolver_path=condition.resolver_path,
        dns_transport=condition.dns_transport if native else None,
        http_version=condition.http_version,
        h3_discovery=condition.h3_discovery if applies("h3_discovery", condition) else H3Discovery.FORCED,
        name_resolution=condition.name_resolution,
        doh_method=condition.doh_method if applies("doh_method", condition) else None,
        browser_preset=condition.browser_preset,
    )


def probes(way: Way) -> bool:
    """Whether its browser asks its resolver by itself, some seconds after its start (`browser.chromium.driver`)."""
    return way.browser is BrowserName.CHROMIUM and way.dns_transport in OVER_HTTP


def looks_up(condition: Condition) -> bool:
    """Whether the browser asks for the page's names at all; with Sengupta et al.'s preset it is told the addresses."""
    return condition.browser_preset is not BrowserPreset.S24


def warms_up(condition: Condition) -> bool:
    """Whether the page is loaded once before the measured load.

    Always, but with a study's preset only where the load is to have what a warm-up leaves: a ticket, or a DNS
    connection. So did both.
    """
    if condition.browser_preset is None:
        return True
    full = HandshakeMode.FULL
    tickets = condition.requested_handshake_mode is not full or condition.requested_dns_handshake_mode is not full
    return tickets or condition.dns_connection_state is ConnectionState.WARM


def offer_of(condition: Condition) -> Offer:
    """Name the signs of HTTP/3 the page's site gives: those by which the browser shall find it, no others."""
    return OFFERS[condition.h3_discovery] if applies("h3_discovery", condition) else Offer.NOTHING


def cleared_for(condition: Condition) -> Cleared:
    """Name what the browser forgets after the warm-up; tickets are the edge's to give or not."""
    keeps_doh = _keeps_doh_connection(condition)
    chromium = condition.browser is BrowserName.CHROMIUM
    return Cleared(
        # A site that is found by Alt-Svc lets nothing be stored.
        http_cache=offer_of(condition) is not Offer.ALT_SVC,
        # Chromium closes all or none: then the page's connections are closed by the edge alone.
        sockets=not (keeps_doh and chromium),
        doh_connection=not keeps_doh,
    )


def _keeps_doh_connection(condition: Condition) -> bool:
    return sends_doh(condition) and condition.dns_connection_state is ConnectionState.WARM


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every browser of a testbed shares."""

    path_pid: int
    ca_file: Path
    addresses: Mapping[str, str]
    """Of the pages' hosts."""
    folder: Path
    hosts_file: Path
    """Has the resolver's name, so that it is not asked of anybody."""
    hosts_without_h3: frozenset[str] = frozenset()
    kept: Kept = NOTHING_KEPT
    key_log_file: Path | None = None
    """What browsers append their secrets to."""


def settings_of(way: Way, surroundings: Surroundings, *, start_number: int = 1) -> BrowserSettings:
    """Set a browser for a way; `start_number` counts the testbed's browsers and tells their logs apart."""
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
        netlog_file=_netlog_file(way, surroundings, start_number),
    )
    if way.browser_preset is None:
        return settings
    return preset(way.browser_preset).apply(settings, addresses=surroundings.addresses)


def _netlog_file(way: Way, surroundings: Surroundings, start_number: int) -> Path | None:
    """Name the log of a browser process: Chromium's, from its start to its end."""
    folder = surroundings.kept.netlog_folder
    if folder is None or way.browser is not BrowserName.CHROMIUM:
        return None
    levels = [way.resolver_path, way.dns_transport, way.http_version, way.browser_preset]
    words = ".".join(str(level) for level in levels if level is not None)
    return folder / f"{start_number:04}.{words}.json"


def prefix_of(way: Way, surroundings: Surroundings) -> list[str]:
    """Put the browser into the path's client host with the way's name server."""
    asks_edge = way.resolver_path is ResolverPath.NATIVE
    return engine.enter_prefix(
        surroundings.path_pid,
        "client",
        nameserver=layout.RESOLVER_ADDRESS if asks_edge else layout.STUB_ADDRESS,
        hosts_file=surroundings.hosts_file if _doh(way) else None,
    )


def _doh(way: Way) -> DohSettings | None:
    http_version = None if way.dns_transport is None else facts_of(way.dns_transport).http_version
    if http_version is None:
        return None
    return DohSettings(
        host=RESOLVER_NAME,
        address=layout.RESOLVER_ADDRESS,
        http_version=http_version,
        method=way.doh_method,
    )
