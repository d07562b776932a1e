"""The browsers of a testbed: one process for each way to a resolver, started when first needed, replaced when it died.

For: which settings, name server and hosts file each way needs. Not for: loads.
"""

from collections.abc import Sequence
from pathlib import Path

from resolab import engine
from resolab.browser import BrowserSettings, Chromium, DohSettings
from resolab.records import DnsTransport, ResolverPath
from resolab.testbed import layout

Way = tuple[ResolverPath, DnsTransport]
NAMES_OF_THE_LAB = ("*.resolab.test", "resolab.test")


class BrowserPool:
    """Chromium processes by the way they reach the resolver."""

    def __init__(self, path_pid: int, ca_file: Path, hosts: Sequence[str], folder: Path) -> None:
        self._path_pid, self._ca_file = path_pid, ca_file
        self._hosts = tuple(hosts)
        self._folder = folder
        self._hosts_file = folder / "hosts"
        self._hosts_file.write_text(f"127.0.0.1 localhost\n{layout.RESOLVER_ADDRESS} {layout.RESOLVER_NAME}\n", "utf-8")
        self._browsers: dict[Way, Chromium] = {}

    async def get(self, resolver_path: ResolverPath, dns_transport: DnsTransport) -> Chromium:
        """Find or start the browser that reaches `dns_transport` this way."""
        way = (resolver_path, dns_transport)
        browser = self._browsers.get(way)
        if browser is not None and browser.usable:
            return browser
        if browser is not None:
            await browser.close()
        self._browsers[way] = browser = await self._start(way)
        return browser

    async def close(self) -> None:
        """Stop every browser."""
        for browser in self._browsers.values():
            await browser.close()
        self._browsers.clear()

    async def _start(self, way: Way) -> Chromium:
        resolver_path, dns_transport = way
        native_doh = resolver_path is ResolverPath.NATIVE and dns_transport is DnsTransport.DOH
        settings = BrowserSettings(
            resolvable_names=NAMES_OF_THE_LAB,
            h3_hosts=self._hosts,
            doh=DohSettings(host=layout.RESOLVER_NAME, address=layout.RESOLVER_ADDRESS) if native_doh else None,
            ca_file=self._ca_file,
            scratch_folder=self._folder,
        )
        stubbed = resolver_path is ResolverPath.STUB
        prefix = engine.enter_prefix(
            self._path_pid,
            "client",
            nameserver=layout.stub_address(dns_transport) if stubbed else layout.RESOLVER_ADDRESS,
            # The DoH server's name comes from the hosts file, so that nothing is asked over Do53 first.
            hosts_file=self._hosts_file if native_doh else None,
        )
        browser = Chromium()
        await browser.start(prefix, settings)
        return browser
