"""The lab of one campaign: an emulated path, an edge behind it, in front of it a browser for each way to a resolver.

For: starting the parts, running one trial at a time, and stopping everything however it ends. Not for: judging what
happened (`judgement`) or keeping it (the campaign).

One path serves every profile of the plan: the profile is changed between trials, while the link is quiet. Browsers
differ in the resolver they are set to, which is fixed when they start; every load has a fresh context in one of them.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from resolab import engine
from resolab.browser import Chromium, LoadRequest, LoadResult
from resolab.plan import Condition, Corpus, Plan, stream_seed
from resolab.records import (
    DnsTransport,
    HandshakeMode,
    LinkProfile,
    PathSummaryRecord,
    QueryRecord,
    Record,
    ResolverPath,
)
from resolab.testbed import judgement, layout, records_of_load
from resolab.testbed.browsers import BrowserPool
from resolab.testbed.layout import Site
from resolab.testbed.scratch import scratch_folder
from resolab.testbed.sites import sites_of

SETTLE_MS = 60.0
"""Time beyond one round trip for closes to arrive and acknowledgements to pass before the measured load."""
MEASURED_LABEL = "measured"


@dataclass(frozen=True, slots=True)
class TrialResult:
    """Everything recorded during one trial, and why to read it with care."""

    records: list[Record]
    flags: list[str]
    failed: bool


class Testbed:
    """Path, edge, stub and browsers, and one trial on them."""

    __test__ = False  # Its name is not a test class's.

    def __init__(self, plan: Plan, corpus: Corpus, seed: int, browser_version: str) -> None:
        self._plan, self._seed, self._browser_version = plan, seed, browser_version
        self._corpus = corpus
        self._profiles: dict[str, LinkProfile] = {name: corpus.profile(name) for name in plan.factors.profile}
        self._sites: dict[str, Site] = sites_of(corpus, plan.factors.page)
        self._profile_in_force: str | None = None
        self._records: list[Record] = []
        self._stack = contextlib.AsyncExitStack()
        self._stubs: dict[DnsTransport, engine.Stub] = {}

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        folder = self._stack.enter_context(scratch_folder())
        first = self._plan.factors.profile[0]
        self._path = await engine.Path.start(
            self._corpus.profile_file(first),
            seed=self._seed,
            keep_awake=self._plan.instrument.keep_awake,
            on_record=self._records.append,
        )
        self._stack.push_async_callback(self._path.close)
        config = folder / "edge.toml"
        config.write_text(layout.edge_configuration(folder / "ca", list(self._sites.values())), "utf-8")
        self._edge = await engine.Edge.start(self._path.ready.pid, config, on_record=self._records.append)
        self._stack.push_async_callback(self._edge.close)
        self._ca_file = Path(self._edge.ready.ca_file)
        self._browsers = BrowserPool(
            self._path.ready.pid, self._ca_file, [site.host for site in self._sites.values()], folder
        )
        self._stack.push_async_callback(self._browsers.close)
        # All at once and before the first trial: a browser that starts beside a measurement would spoil it.
        ways = {(c.resolver_path, c.dns_transport): c for c in self._plan.conditions()}
        await asyncio.gather(*(self._browser_for(condition) for condition in ways.values()))

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        """Run one trial: each transport's cold exchange by our client, then one page load in a fresh context."""
        self._records.clear()
        site = self._sites[condition.page]
        await self._put_in_force(condition.profile, trial_id)
        await self._edge.set_ticket_policy(site.host, judgement.POLICIES[condition.requested_handshake_mode])
        browser = await self._browser_for(condition)
        queries = await self._cold_exchanges(site.host, trial_id)
        load, since_ns = await self._load(browser, condition, site)
        await self._edge.flush()
        await self._path.summary(MEASURED_LABEL)
        return self._result(condition, site, queries, load, since_ns)

    async def _put_in_force(self, profile: str, trial_id: str) -> None:
        # The loss streams begin anew at each trial, so that a trial's losses do not depend on the trials before it.
        # A schedule of changes is for the measured load: it waits for its navigation.
        seed = stream_seed(self._seed, "link", trial_id)
        await self._path.set_profile(self._profiles[profile], seed, hold_schedule=True)
        self._profile_in_force = profile

    async def _browser_for(self, condition: Condition) -> Chromium:
        if condition.resolver_path is ResolverPath.STUB:
            await self._stub_for(condition.dns_transport)
        return await self._browsers.get(condition.resolver_path, condition.dns_transport)

    async def _stub_for(self, dns_transport: DnsTransport) -> engine.Stub:
        stub = self._stubs.get(dns_transport)
        if stub is None or not stub.process.running:
            stub = await engine.Stub.start(
                self._path.ready.pid,
                f"{layout.stub_address(dns_transport)}:53",
                layout.resolver(dns_transport, self._ca_file),
                handshake=HandshakeMode.FULL,
                on_record=self._records.append,
            )
            self._stubs[dns_transport] = stub
            self._stack.push_async_callback(stub.close)
        return stub

    async def _cold_exchanges(self, host: str, trial_id: str) -> list[QueryRecord]:
        transports = list(self._plan.factors.dns_transport)
        random.Random(stream_seed(self._seed, "exchange_order", trial_id)).shuffle(transports)
        resolvers = [layout.resolver(transport, self._ca_file) for transport in transports]
        return await engine.run_queries(self._path.ready.pid, resolvers, host)

    async def _load(self, browser: Chromium, condition: Condition, site: Site) -> tuple[LoadResult, int]:
        since_ns = [0]

        async def make_cold() -> None:
            await self._close_connections()
            await self._path.summary("before_measured")
            if self._profiles[condition.profile].schedule:
                await self._path.start_schedule()
            since_ns[0] = time.monotonic_ns()

        request = LoadRequest(url=site.url, timeout_s=self._plan.limits.page_timeout_s, warmup=True, between=make_cold)
        result = await browser.load(request)
        return result, since_ns[0]

    async def _close_connections(self) -> None:
        await self._edge.close_connections()
        for stub in self._stubs.values():
            if stub.process.running:
                await stub.close_connections(forget_tickets=True)
        await asyncio.sleep((self._round_trip_ms() + SETTLE_MS) / 1000)

    def _round_trip_ms(self) -> float:
        profile = self._profiles[self._profile_in_force or self._plan.factors.profile[0]]
        return profile.up.one_way_delay_ms + profile.down.one_way_delay_ms

    def _result(
        self, condition: Condition, site: Site, queries: Sequence[QueryRecord], load: LoadResult, since_ns: int
    ) -> TrialResult:
        records = self._records.copy()
        request = judgement.document_request(records, site.host, site.path, since_ns=since_ns)
        summary = next((r for r in records if isinstance(r, PathSummaryRecord) and r.label == MEASURED_LABEL), None)
        flags = [
            *judgement.lookup_flags(records, site.host, since_ns, condition.dns_transport, condition.resolver_path),
            *judgement.http_flags(request, condition.http_version),
            *judgement.path_flags(summary, self._plan.limits.lateness_p99_ms),
        ]
        warmup = judgement.document_request(records, site.host, site.path, since_ns=0, until_ns=since_ns)
        page_records = records_of_load.page_load_records(
            load,
            browser_version=self._browser_version,
            requested=condition.requested_handshake_mode,
            happened=judgement.handshake_that_happened(request),
            warmup_happened=judgement.handshake_that_happened(warmup),
        )
        return TrialResult([*page_records, *queries, *records], flags, failed=load.failure is not None)
