"""Which browser a configuration needs, and what it is told."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from resolab.basics.records import BrowserKind, DnsTransport, HandshakeMode, HttpVersion, ResolverPath
from resolab.browser import BrowserSettings
from resolab.browser.chromium.flags import command_line
from resolab.browser.firefox.preferences import preferences
from resolab.plan import Condition
from resolab.trials.live.browsers import (
    FEWEST,
    MOST,
    LiveBrowsers,
    build_settings,
    choose_browser_way,
    processes_at_a_time,
)
from resolab.trials.live.resolver_addresses import ResolverRoute

CONDITION = Condition(
    page="a_test", profile="live", dns_transport=DnsTransport.DOUDP, http_version=HttpVersion.ANY,
    requested_handshake_mode=HandshakeMode.FULL, browser=BrowserKind.FIREFOX, resolver_path=ResolverPath.NATIVE,
    resolver="quick",
)  # fmt: skip
AGENT = "Agent/1 resolab/9 (+https://study.resolab.test/)"


def reached(transport: DnsTransport = DnsTransport.DOUDP) -> ResolverRoute:
    return ResolverRoute("quick", transport, "x://dns.quick.test", "dns.quick.test", "198.18.8.1", 443, "/q")


def settings(browser: BrowserKind, transport: DnsTransport, ca_file: Path | None = None) -> BrowserSettings:
    way = choose_browser_way(replace(CONDITION, browser=browser, dns_transport=transport))
    return build_settings(way, reached(transport), user_agent=AGENT, ca_file=ca_file, hosts=("a.test",))


def test_who_asks_by_itself_has_a_browser_of_its_own_and_stubbed_ones_share() -> None:
    native = [replace(CONDITION, resolver=name) for name in ("quick", "local")]
    stubbed = [
        replace(CONDITION, resolver=name, dns_transport=transport, resolver_path=ResolverPath.STUB)
        for name in ("quick", "local")
        for transport in (DnsTransport.DOT, DnsTransport.DOQ)
    ]
    assert len({choose_browser_way(one) for one in native}) == 2
    assert len({choose_browser_way(one) for one in stubbed}) == 1
    assert not choose_browser_way(stubbed[0]).speaks_doh
    doh = replace(CONDITION, dns_transport=DnsTransport.DOH)
    assert choose_browser_way(doh).speaks_doh


def test_firefox_is_as_it_comes_but_for_resolver_and_agent() -> None:
    told = preferences(settings(BrowserKind.FIREFOX, DnsTransport.DOUDP))
    assert told["general.useragent.override"] == AGENT
    assert told["network.dns.disableIPv6"] is False
    assert told["network.dns.use_https_rr_as_altsvc"] is True
    assert told["network.trr.mode"] == 5
    own = preferences(settings(BrowserKind.FIREFOX, DnsTransport.DOH))
    assert (own["network.trr.uri"], own["network.trr.bootstrapAddr"]) == ("https://dns.quick.test/q", "198.18.8.1")


@pytest.mark.parametrize(("ca", "told"), [(None, False), (Path("/ca.pem"), True)])
def test_chromium_speaks_http3_and_is_told_hosts_only_for_a_further_authority(ca: Path | None, told: bool) -> None:
    line = command_line(Path("/c"), settings(BrowserKind.CHROMIUM, DnsTransport.DOUDP, ca), Path("/p"))
    assert f"--user-agent={AGENT}" in line
    assert "--disable-quic" not in line
    assert ("--origin-to-force-quic-on=a.test:1" in line) is told


def test_no_more_browsers_live_than_memory_has_room_for() -> None:
    assert FEWEST <= processes_at_a_time() <= MOST


@pytest.mark.parametrize("breaks_in", ["start", "load"])
def test_a_browser_that_breaks_before_its_first_site_is_closed(tmp_path: Path, breaks_in: str) -> None:
    told: list[str] = []

    def does(what: str) -> Any:
        async def do(*_: Any) -> None:
            told.append(what)
            if what == breaks_in:
                raise RuntimeError(what)

        return do

    broken: Any = SimpleNamespace(**{what: does(what) for what in ("start", "load", "close")})
    place: Any = SimpleNamespace(stub_address="127.0.0.1", own_names="", browser_prefix=lambda *_, **__: [])
    browsers = LiveBrowsers(
        place,
        lambda _way, _reached: settings(BrowserKind.FIREFOX, DnsTransport.DOUDP),
        tmp_path,
        {BrowserKind.FIREFOX: lambda: broken},
    )
    with pytest.raises(RuntimeError, match=breaks_in):
        asyncio.run(browsers.get(choose_browser_way(CONDITION), reached()))
    assert told[-1] == "close"
