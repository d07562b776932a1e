"""Page loads in a lab: a browser for each combination of settings, one trial at a time.

For: starting the browsers, running one trial, and stopping everything at any end. Not for: path and edge (`lab`),
judging the events (`result`, `judgement`) or keeping the results (`campaign`).

The settings fixed at a browser's start are in `browser_setup`; every load has a fresh context in the matching browser.

An edge, stub or browser dying during a trial ends the trial. Its load fails and is kept, flagged when the part is the
lab's own, and the next trial starts a new part.
"""

import asyncio
import random
import socket
import time
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import (
    MEASURED_LABEL,
    ConnectionState,
    HttpVersion,
    QueryRecord,
    Record,
    TrialFlag,
)
from resolab.browser import Browser, ListeningRequest, LoadEvents, LoadRequest, LoadResult
from resolab.lab import engine, layout
from resolab.lab.artifacts import NOTHING_KEPT, KeptFolders
from resolab.lab.cache_misses import draw_missed_names
from resolab.lab.client_program import ClientProgramSlot
from resolab.lab.distance import longest_rtt_ms
from resolab.lab.lab import Lab
from resolab.lab.layout import PageSite
from resolab.lab.running_parts import RunningParts
from resolab.plan import RESOLVER_NAME, Condition, Corpus, Plan, stream_seed
from resolab.trials.page_load import judgement
from resolab.trials.page_load.browser_setup import TestbedPaths, choose_forgotten_state, choose_way, warms_up
from resolab.trials.page_load.browsers import LIVE_LIMIT, BrowserPool, choose_first_browsers
from resolab.trials.page_load.memory import check_memory
from resolab.trials.page_load.records_of_load import LoadContext
from resolab.trials.page_load.result import TrialInstants, TrialObservations, trial_result
from resolab.trials.page_load.warmup_activity import WarmUpActivity, drop_open_connections
from resolab.trials.trial_result import TrialResult

SETTLE_MS = 60.0
"""The time beyond a round trip, in ms, for closes to arrive and acknowledgements to pass before the measured load."""
FORGETTING_ATTEMPTS = 8
"""The number of attempts to make a browser forget its warm-up, before the load is measured and flagged anyway."""
ANSWER_ROUND_TRIPS = 3
"""Round trips of a handshake and a request, with one to spare."""
REHEARSALS = 3
"""The number of browsers allowed to break in their first load before the testbed is unusable."""
HEARING_LABEL = "hearing"


class PageLoadRunner(RunningParts):
    """The lab, stub and browsers of a campaign, with a method to run a trial."""

    before_measured: Callable[[], Awaitable[None]] | None = None
    """A hook called in each trial after the warm-up, before any request of the measured load. For tests disturbing or
    observing a load; campaigns do not set the hook."""

    def __init__(
        self,
        plan: Plan,
        corpus: Corpus,
        seed: int,
        *,
        kept: KeptFolders = NOTHING_KEPT,
    ) -> None:
        super().__init__()
        self._plan, self._seed = plan, seed
        self.lab = Lab(plan, corpus, seed, kept=kept)
        self._left_open = False
        self._servers_view = WarmUpActivity()
        self._rehearsed_browsers: weakref.WeakSet[Browser] = weakref.WeakSet()

    async def _start(self) -> None:
        lab = self.lab
        ways = [choose_way(condition) for condition in self._plan.conditions()]
        check_memory(list(lab.sites.values()), min(len({*ways}), LIVE_LIMIT))
        await self._stack.enter_async_context(lab)
        surroundings = self._surroundings()
        self.between = ClientProgramSlot(
            lab.path.ready.pid,
            lab.ca_file,
            lab.records.append,
            self._plan.key_exchange.client,
            key_log_file=lab.keeper.key_log_file,
            addresses=lab.resolver_addresses,
        )
        self._stack.push_async_callback(self.between.close)
        self._browsers = BrowserPool(surroundings)
        self._stack.push_async_callback(self._browsers.close)
        for way in choose_first_browsers(ways):
            await self._browsers.get(way)

    def _surroundings(self) -> TestbedPaths:
        lab, hosts_file = self.lab, self.lab.folder / "hosts"
        # Firefox looks the machine's own name up when it starts, and waits for it.
        own_names = f"localhost {socket.gethostname()}"
        hosts_file.write_text(f"127.0.0.1 {own_names}\n{layout.RESOLVER_ADDRESS} {RESOLVER_NAME}\n", "utf-8")
        origins = [origin for site in lab.sites.values() for origin in site.origins]
        return TestbedPaths(
            path_pid=lab.path.ready.pid,
            ca_file=lab.ca_file,
            addresses={origin.host: origin.address for origin in origins},
            hosts_without_h3=frozenset(one.host for one in origins if not one.serving.speaks(HttpVersion.H3)),
            folder=lab.folder,
            hosts_file=hosts_file,
            kept=lab.kept,
            key_log_file=lab.keeper.key_log_file,
            resolver_addresses=lab.resolver_addresses,
        )

    @property
    def path(self) -> engine.Path:
        """Return the emulated path."""
        return self.lab.path

    @property
    def edge(self) -> engine.Edge:
        """Return the currently running edge."""
        return self.lab.edge

    @property
    def ca_file(self) -> Path:
        """Return the file of the authority to be trusted by every loader of pages here."""
        return self.lab.ca_file

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        """Run one trial: each transport's cold exchange by our client, then one page load in a fresh context."""
        await self.lab.replace_dead_edge()
        site = self.lab.sites[condition.page]
        await self._apply_condition(condition, trial_id)
        browser, rehearsed = await self._rehearse(condition, site)
        if rehearsed:
            await self.lab.set_profile(condition, trial_id)
        async with self.lab.keeper.keep(self.path, trial_id) as files:
            result = await self._measure(browser, condition, site, trial_id)
        netlog_file = self._browsers.netlog_file(choose_way(condition))
        return replace(result, files=replace(files, netlog_file=netlog_file))

    async def listen(self, condition: Condition, asked: ListeningRequest) -> tuple[LoadEvents, list[Record]]:
        """Load a page once and record all its requests: for the page's content, not for times."""
        await self.lab.replace_dead_edge()
        await self._apply_condition(condition, HEARING_LABEL)
        browser = await self._browsers.get(choose_way(condition))
        self.lab.records.clear()
        heard = await browser.listen(asked)
        await self.lab.run_unless_dead(self.edge, self.edge.flush())
        return heard, self.lab.records.copy()

    async def find_browser(self, condition: Condition) -> Browser:
        """Return the browser for a condition's pages; a new browser after the previous has ended."""
        return await self._browsers.get(choose_way(condition))

    def build_url(self, page: str) -> str:
        """Return the URL of a page's document."""
        return self.lab.sites[page].url

    async def _measure(self, browser: Browser, condition: Condition, site: PageSite, trial_id: str) -> TrialResult:
        self.lab.records.clear()
        trial_ns = time.monotonic_ns()
        exchanges = await self._exchanges(condition, site, trial_id)
        missed = draw_missed_names(site.hosts, self._seed, trial_id, ratio=condition.resolver_miss_ratio)
        await self.lab.run_unless_dead(self.edge, self.lab.edge_state.miss(missed))
        load_ns = time.monotonic_ns()
        load, measured_ns = await self._load(browser, condition, site)
        program = self.between.program(condition)
        if program is not None:
            await self.lab.run_unless_dead(program, self.between.end_load(condition))
        await self.lab.run_unless_dead(self.edge, self.edge.flush())
        await self.path.summary(MEASURED_LABEL)
        software_records, ends = await self.lab.software.end_trial(condition)
        seen = TrialObservations(
            site=site,
            began=TrialInstants(trial_ns, load_ns, measured_ns),
            load=load,
            exchanges=exchanges,
            records=[*self.lab.records, *software_records],
            conductor_flags=[*self._own_flags(condition), *ends],
        )
        loader = LoadContext(browser.version, condition)
        return trial_result(seen, loader, lateness_p99_ms=self._plan.limits.lateness_p99_ms)

    async def _rehearse(self, condition: Condition, site: PageSite) -> tuple[Browser, bool]:
        """Return the browser of a condition, after a first load of the page, and True when this load was just now.

        A browser's first load includes one-time start-up work, and Firefox always uses h2 for this load, regardless of
        HTTP/3 settings.
        """
        request = LoadRequest(url=site.url, timeout_s=self._plan.limits.page_timeout_s, warmup=False)
        for attempt in range(REHEARSALS):
            browser = await self._browsers.get(choose_way(condition))
            if browser in self._rehearsed_browsers:
                return browser, attempt > 0
            await browser.load(request)
            if browser.usable:
                self._rehearsed_browsers.add(browser)
                return browser, True
        raise MachineError(f"{condition.browser} broke {REHEARSALS} times in its first load of {condition.page}")

    async def _apply_condition(self, condition: Condition, trial_id: str) -> None:
        await self.lab.apply_condition(condition, trial_id)
        await self.between.put(condition)

    async def _exchanges(self, condition: Condition, site: PageSite, trial_id: str) -> list[QueryRecord]:
        """Query the page's name over cold connections, over each of the plan's transports spoken by the resolver.

        If the plan says so, the page's other names follow over the same connections.
        """
        transports = list(self._plan.factors.dns_transport)
        random.Random(stream_seed(self._seed, "exchange_order", trial_id)).shuffle(transports)
        own = self._plan.software.get(condition.resolver_software)
        spoken = [one for one in transports if own is None or one in own.transports]
        resolvers = [self.lab.build_resolver(condition, transport) for transport in spoken]
        further = site.hosts[1 : 1 + self._plan.queries.warm_count]
        names = [site.host, *further]
        key_log_file = self.lab.keeper.key_log_file
        return await engine.run_queries(self.path.ready.pid, resolvers, names, key_log_file=key_log_file)

    async def _load(self, browser: Browser, condition: Condition, site: PageSite) -> tuple[LoadResult, int]:
        since_ns = [0]
        self._left_open, self._attempts_count = False, 0

        async def between() -> None:
            await self.path.summary("before_measured")
            if self.before_measured is not None:
                await self.before_measured()
            if self.lab.profiles[condition.profile].schedule:
                await self.path.start_schedule()
            since_ns[0] = time.monotonic_ns()

        request = LoadRequest(
            url=site.url,
            timeout_s=self._plan.limits.page_timeout_s,
            warmup=warms_up(condition),
            cleared=choose_forgotten_state(condition),
            settle=partial(self._settle, condition),
            between=between,
        )
        result = await browser.load(request)
        # A warm-up that failed ends the trial: all of it was before a measured load.
        return result, since_ns[0] or time.monotonic_ns()

    async def _settle(self, condition: Condition) -> bool:
        """Close connections from the servers' side and return True when no activity of the warm-up is under way.

        The last attempt always returns True, and the trial is flagged.
        """
        cleared_ns = time.monotonic_ns()
        self._left_open = False
        self._attempts_count += 1
        await self._close_connections(condition)
        await self.lab.run_unless_dead(self.edge, self.edge.flush())
        is_kept = condition.dns_connection_state is ConnectionState.WARM
        found = self._servers_view.list_under_way(
            judgement.remove_upstream_queries(self.lab.records, condition),
            cleared_ns,
            kept_address=layout.RESOLVER_ADDRESS if is_kept else None,
        )
        self.lab.records[:] = drop_open_connections(self.lab.records)
        if not found:
            return True
        if self._attempts_count >= FORGETTING_ATTEMPTS:
            self._left_open = True
            return True
        # Firefox opens a connection again whose handshake was cancelled, each time. A handshake and a request that are
        # left alone come to their end, and the next attempt closes the connection for good.
        pause_ms = self._attempts_count * (
            ANSWER_ROUND_TRIPS * longest_rtt_ms(self.lab.find_profile(condition)) + SETTLE_MS
        )
        await asyncio.sleep(pause_ms / 1000)
        return False

    async def _close_connections(self, condition: Condition) -> None:
        try:
            # Otherwise the browser alone closes. A browser having discovered HTTP/3 itself, and Firefox always, falls
            # back to h2 after the server closes its QUIC connection. Chromium also keeps unused sockets, without
            # reading the server's close.
            if not choose_forgotten_state(condition).sockets:
                closed = self.lab.edge_state.close_page_connections(condition.page)
                await self.lab.run_unless_dead(self.edge, closed)
        except ResolabError:
            # The edge lives and some connection outlasts its patience: whether the load found it open is judged.
            self._left_open = True
        program = self.between.program(condition)
        if program is not None:
            hosts = self.lab.sites[condition.page].hosts
            await self.lab.run_unless_dead(program, self.between.close_after_warmup(condition, hosts))
        await asyncio.sleep((longest_rtt_ms(self.lab.find_profile(condition)) + SETTLE_MS) / 1000)

    def _own_flags(self, condition: Condition) -> list[TrialFlag]:
        """Return flags for dead programs and for connections left open."""
        flags = [TrialFlag.CONNECTIONS_LEFT_OPEN] if self._left_open else []
        if not self.edge.process.running:
            flags.append(TrialFlag.EDGE_ENDED)
        flags += self.between.flags(condition)
        return flags
