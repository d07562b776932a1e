"""Stock Firefox reaches the states it is asked for, judged by the edge's records: handshakes of pages and of its own DoH,
what is kept between warm-up and measured load, and nothing between one load and the next."""

import asyncio
import contextlib
from dataclasses import dataclass

import pytest
from lab import ROOT

from resolab.basics.records import (
    ConnectionRecord,
    EdgeCloseConnections,
    EdgeQueryRecord,
    EdgeRequestRecord,
    HandshakeMode,
    HttpVersion,
    TicketPolicy,
)
from resolab.browser import BrowserSettings, ClearedState, DohSettings, Firefox, LoadRequest, PageLoad
from resolab.lab import engine

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]

RESOLVER, ADDRESS, PAGE, PAGE_ADDRESS = "dns.resolab.test", "10.77.0.1", "page.states.test", "10.77.1.1"
FULL, RESUMED, ZERO_RTT = HandshakeMode.FULL, HandshakeMode.RESUMED, HandshakeMode.ZERO_RTT
NO_TICKETS, RESUME, EARLY_DATA = TicketPolicy.NONE, TicketPolicy.RESUME, TicketPolicy.EARLY_DATA
CONFIGURATION = f"""
[ca]
folder = "ca"
[resolver]
name = "{RESOLVER}"
addresses = ["{ADDRESS}"]
origins = ["states.test"]
ticket_policy = "none"
[[site]]
host = "{PAGE}"
address = "{PAGE_ADDRESS}"
folder = "site"
ticket_policy = "none"
alt_svc = true
"""
TIMEOUT_S = 20
TEST_TIMEOUT_S = 150


@dataclass
class Seen:
    """A measured load, and what the edge saw of it."""

    load: PageLoad
    page: HandshakeMode
    http_version: HttpVersion
    dns: set[HandshakeMode | None]
    dns_transports: set[str]
    dns_was_warm: bool
    names: set[str]


class Lab:
    """A path, the edge behind it, and one Firefox."""

    def __init__(self, folder):
        self.folder, self.records, self.firefox = folder, [], Firefox()
        (folder / "site").mkdir()
        (folder / "site/index.html").write_text("<!doctype html><link rel=icon href=data:,><title>t</title><h1>W</h1>")
        (folder / "edge.toml").write_text(CONFIGURATION)

    @contextlib.asynccontextmanager
    async def running(self):
        async with contextlib.AsyncExitStack() as stack:
            profile = ROOT / "profiles/4g.toml"
            path = await engine.Path.start(profile, seed=1, keep_awake=False, on_record=lambda _: None)
            stack.push_async_callback(path.close)
            edge = await engine.Edge.start(path.ready.pid, self.folder / "edge.toml", on_record=self.records.append)
            stack.push_async_callback(edge.close)
            stack.push_async_callback(self.firefox.close)
            self.edge, self.prefix = edge, engine.enter_prefix(path.ready.pid, "client", nameserver=ADDRESS)
            yield self

    async def browse(self, doh_version, http_version=HttpVersion.H3):
        doh = DohSettings(host=RESOLVER, address=ADDRESS, http_version=doh_version)
        settings = BrowserSettings(
            resolvable_names=("*.states.test",), http_version=http_version, h3_hosts=(PAGE,),
            doh=doh, ca_file=self.folder / "ca/ca.pem", scratch_folder=self.folder,
        )  # fmt: skip
        await self.firefox.start(self.prefix, settings)

    async def load(self, page_policy, dns_policy=NO_TICKETS, *, warmup=True, cleared=ClearedState(), close=None):  # noqa: B008
        await self.edge.set_ticket_policy(PAGE, page_policy)
        await self.edge.set_ticket_policy(RESOLVER, dns_policy)
        before = [0]

        async def between():
            await self.edge.process.command(lambda number: EdgeCloseConnections(id=number, name=close))
            await self.edge.flush()
            before[0] = len(self.records)

        self.records.clear()
        request = LoadRequest(
            url=f"https://{PAGE}/", timeout_s=TIMEOUT_S, warmup=warmup, cleared=cleared, between=between
        )
        result = await self.firefox.load(request)
        await self.edge.flush()
        assert result.failure is None, result.measured.failure_detail
        return self._seen(result.measured, before[0])

    def _seen(self, load, before):
        of_load = self.records[before:]
        request = next(r for r in of_load if isinstance(r, EdgeRequestRecord) and r.path == "/")
        queries = [r for r in of_load if isinstance(r, EdgeQueryRecord)]
        connections = {r.connection_id: r for r in self.records if isinstance(r, ConnectionRecord)}
        used_before = {r.connection_id for r in self.records[:before] if isinstance(r, EdgeQueryRecord)}
        used = {query.connection_id for query in queries}
        early = all(query.in_early_data for query in queries)
        page = RESUMED if request.session_resumed else FULL
        modes = {connections[number].handshake_mode for number in used}
        return Seen(
            load=load,
            page=ZERO_RTT if request.in_early_data else page,
            http_version=request.http_version,
            # Early data is what the queries came in, not only what the connection would have taken.
            dns=modes if early == (modes == {ZERO_RTT}) else {None},
            dns_transports={query.dns_transport.value for query in queries},
            dns_was_warm=bool(used & used_before),
            names={query.qname.rstrip(".") for query in queries},
        )


def play(tmp_path, scene):
    async def run():
        async with asyncio.timeout(TEST_TIMEOUT_S), Lab(tmp_path).running() as lab:
            await scene(lab)

    asyncio.run(run())


def test_states_with_pages_and_doh_over_h3(tmp_path, privileged):
    async def scene(lab):
        await lab.browse(HttpVersion.H3)
        both_cold = await lab.load(NO_TICKETS)
        assert (both_cold.page, both_cold.dns, both_cold.dns_was_warm) == (FULL, {FULL}, False)
        assert (both_cold.http_version, both_cold.dns_transports) == (HttpVersion.H3, {"doh3"})
        assert both_cold.load.timings.next_hop_protocol == "h3"
        assert both_cold.names == {PAGE}
        resumed = await lab.load(RESUME, EARLY_DATA)
        assert (resumed.page, resumed.dns, resumed.dns_was_warm) == (RESUMED, {ZERO_RTT}, False)
        early = await lab.load(EARLY_DATA, RESUME)
        assert (early.page, early.dns, early.dns_was_warm) == (ZERO_RTT, {RESUMED}, False)
        # Nothing of the loads before: neither tickets nor connections, the DoH server's included.
        fresh = await lab.load(EARLY_DATA, EARLY_DATA, warmup=False)
        assert (fresh.page, fresh.dns, fresh.dns_was_warm) == (FULL, {FULL}, False)
        forgotten = await lab.load(EARLY_DATA, EARLY_DATA, cleared=ClearedState(tickets=True))
        assert (forgotten.page, forgotten.dns) == (FULL, {FULL})
        kept = await lab.load(EARLY_DATA, cleared=ClearedState(doh_connection=False), close=PAGE)
        assert (kept.page, kept.dns_was_warm, kept.names) == (ZERO_RTT, True, {PAGE})

    play(tmp_path, scene)


def test_states_with_pages_and_doh_over_h2(tmp_path, privileged):
    async def scene(lab):
        await lab.browse(HttpVersion.H2, HttpVersion.H2)
        # The site advertises HTTP/3, which is not heeded.
        cold = await lab.load(NO_TICKETS)
        assert (cold.page, cold.dns, cold.http_version) == (FULL, {FULL}, HttpVersion.H2)
        assert cold.dns_transports == {"doh"}
        early = await lab.load(EARLY_DATA, EARLY_DATA)
        assert (early.page, early.dns, early.http_version) == (ZERO_RTT, {ZERO_RTT}, HttpVersion.H2)

    play(tmp_path, scene)
