"""The browsers of a live bed: one process for each path to a resolver, a few alive at a time.

For: the settings of a configuration, and finding or starting the matching browser. Not for: loads (`bed`), or
connecting a browser to the machine's network (`network_access`).

A browser with a resolver of its own gets the address at the start: in the browser's resolv.conf, or in the DoH
settings. The stub always listens at the same address, so one browser behind the stub serves all resolvers.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.protocols import OVER_HTTP, find_facts
from resolab.basics.records import BrowserKind, DnsTransport, DohMethod, HttpVersion, NameResolution, ResolverPath
from resolab.browser import Browser, BrowserSettings, DohSettings, H3Discovery, LoadRequest
from resolab.browser.drivers import MAKERS
from resolab.plan import Condition
from resolab.trials.live.access_interface import AccessInterface
from resolab.trials.live.client_side import LoadLog, log_settings
from resolab.trials.live.rehearsal import TIMEOUT_S, rehearsal_url
from resolab.trials.live.resolver_addresses import ResolverRoute

FEWEST, MOST = 3, 16
BYTES_A_PROCESS = 1 << 30
"""The memory of a browser with a large page, in bytes; a browser without a page takes 400 to 500 MiB."""
RENEWED_AFTER_COUNT = 100
AS_IT_COMES: Mapping[str, bool | int | str] = {
    # Both ways to HTTP/3, and IPv6.
    "network.dns.use_https_rr_as_altsvc": True,
    "network.http.altsvc.enabled": True,
    "network.dns.disableIPv6": False,
}
"""Firefox's default settings, changed in the lab and restored here."""


@dataclass(frozen=True, slots=True)
class LiveBrowserSetup:
    """The settings fixed at a browser's start, as far as configurations differ."""

    browser: BrowserKind
    resolver_path: ResolverPath
    resolver: str | None
    """The resolver's name; resolver and transport are `None` behind the stub."""
    dns_transport: DnsTransport | None
    name_resolution: NameResolution
    doh_method: DohMethod | None

    @property
    def speaks_doh(self) -> bool:
        """Return True when the browser itself asks over HTTP."""
        return self.dns_transport is not None and self.dns_transport in OVER_HTTP


def choose_browser_way(condition: Condition) -> LiveBrowserSetup:
    """Return the settings of the browser process for a condition."""
    native = condition.resolver_path is ResolverPath.NATIVE
    speaks_doh = native and condition.dns_transport in OVER_HTTP
    return LiveBrowserSetup(
        browser=condition.browser_kind,
        resolver_path=condition.resolver_path,
        resolver=condition.resolver if native else None,
        dns_transport=condition.dns_transport if native else None,
        name_resolution=condition.name_resolution,
        doh_method=condition.doh_method if speaks_doh else None,
    )


def build_settings(
    way: LiveBrowserSetup,
    reached: ResolverRoute,
    *,
    user_agent: str,
    ca_file: Path | None = None,
    folder: Path | None = None,
    hosts: tuple[str, ...] = (),
    own_sandbox: bool = False,
) -> BrowserSettings:
    """Return a browser's default settings, changed only in resolver, user agent and authorities.

    Over QUIC a browser trusts a further authority only for listed hosts: `hosts` are the hosts known beforehand.
    """
    is_firefox = way.browser is BrowserKind.FIREFOX
    preferences: dict[str, bool | int | str] = {**AS_IT_COMES, "general.useragent.override": user_agent}
    return BrowserSettings(
        resolvable_names=("*",),
        http_version=HttpVersion.H3,
        h3_discovery=H3Discovery.ALT_SVC,
        h3_hosts=hosts if ca_file is not None else (),
        name_resolution=way.name_resolution,
        doh=_doh(way, reached),
        ca_file=ca_file,
        scratch_folder=folder,
        own_sandbox=own_sandbox,
        extra_flags=() if is_firefox else (f"--user-agent={user_agent}",),
        extra_preferences=preferences if is_firefox else {},
    )


def _doh(way: LiveBrowserSetup, reached: ResolverRoute) -> DohSettings | None:
    http_version = None if way.dns_transport is None else find_facts(way.dns_transport).http_version
    if http_version is None:
        return None
    return DohSettings(
        host=reached.host,
        address=reached.address or "",
        http_version=http_version,
        method=way.doh_method,
        path=reached.path,
    )


@dataclass(slots=True)
class RunningBrowser:
    """A running browser and its log."""

    browser: Browser
    log: LoadLog
    log_file: Path
    loads_count: int = 0

    async def end(self) -> None:
        """Stop the browser and remove its log files; the log was read after each load."""
        await self.browser.close()
        for file in self.log_file.parent.glob(f"{self.log_file.name}*"):
            file.unlink(missing_ok=True)


class LiveBrowsers:
    """The browser processes by settings, the most recently used last."""

    def __init__(
        self,
        place: AccessInterface,
        settings_for: Callable[[LiveBrowserSetup, ResolverRoute], BrowserSettings],
        folder: Path,
        makers: Mapping[BrowserKind, Callable[[], Browser]] = MAKERS,
    ) -> None:
        self._place, self._settings_for, self._folder, self._makers = place, settings_for, folder, makers
        self._running: OrderedDict[LiveBrowserSetup, RunningBrowser] = OrderedDict()
        self._started_count = 0
        self._limit = processes_at_a_time()

    async def get(self, way: LiveBrowserSetup, reached: ResolverRoute) -> RunningBrowser:
        """Find or start the browser with these settings for a load; may end another browser."""
        running = self._running.pop(way, None)
        if running is not None and (not running.browser.usable or running.loads_count >= RENEWED_AFTER_COUNT):
            await running.end()
            running = None
        if running is None:
            await self._make_room()
            running = await self._start(way, reached)
        self._running[way] = running
        running.loads_count += 1
        return running

    async def close(self) -> None:
        """Stop every browser of the bed."""
        while self._running:
            _, running = self._running.popitem()
            await running.end()

    async def _start(self, way: LiveBrowserSetup, reached: ResolverRoute) -> RunningBrowser:
        self._started_count += 1
        file = self._folder / f"browser-{self._started_count}.log"
        # Firefox would write one with its own DoH alone, and be slower there than where it asks otherwise.
        is_wanted = way.browser is BrowserKind.CHROMIUM
        settings, log = log_settings(way.browser, self._settings_for(way, reached), file, is_wanted=is_wanted)
        browser = self._makers[way.browser]()
        running = RunningBrowser(browser, log, file)
        try:
            await browser.start(self._prefix(way, reached), settings)
            async with rehearsal_url() as url:
                await browser.load(LoadRequest(url=url, timeout_s=TIMEOUT_S, warmup=False))
        except BaseException:
            await running.end()  # Nobody else knows of it yet.
            raise
        return running

    def _prefix(self, way: LiveBrowserSetup, reached: ResolverRoute) -> list[str]:
        nameserver = self._place.stub_address if way.resolver_path is ResolverPath.STUB else reached.address
        if way.speaks_doh:
            return self._place.browser_prefix(self._place.stub_address, hosts_file=self._hosts_file(reached))
        return self._place.browser_prefix(nameserver or "", hosts_file=None)

    def _hosts_file(self, reached: ResolverRoute) -> Path | None:
        """Write a hosts file with the resolver's name, so the name needs no look-up."""
        if not reached.is_named:
            return None
        file = self._folder / f"hosts-{reached.name}"
        file.write_text(f"{self._place.own_names}\n{reached.address} {reached.host}\n", "utf-8")
        return file

    async def _make_room(self) -> None:
        while len(self._running) >= self._limit:
            _, oldest = self._running.popitem(last=False)
            await oldest.end()


def processes_at_a_time() -> int:
    """Return the maximum number of browsers alive at a time, from the free memory."""
    free_bytes = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(FEWEST, min(MOST, free_bytes // (2 * BYTES_A_PROCESS)))
