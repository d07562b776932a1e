"""A live trial during its turn: the load, our client's look-ups of its names, the pings, and the conclusions.

For: the order of steps, and the records of the trial. Not for: waiting for the turn (`bed`), or the parts themselves
(`browsers`, `own_client`).
"""

import asyncio
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import LiveTrialRecord, QueryRecord, Record, ResolverPath
from resolab.browser import LoadRequest, LoadResult
from resolab.browser.browser_log import BrowserLog
from resolab.plan import Condition, LiveSettings, LiveSite
from resolab.plan.manners import (
    ContactRefusal,
    Ledger,
    StopReason,
    StopSign,
    Turn,
    pause,
    stop_sign_of_hosts,
    stop_sign_of_load,
    stop_sign_of_query,
)
from resolab.trials.live.access_interface import AccessInterface
from resolab.trials.live.browsers import LiveBrowsers, RunningBrowser, choose_browser_way
from resolab.trials.live.cache_state import QueryHistory, read_name
from resolab.trials.live.client_side import judge_load
from resolab.trials.live.names import (
    find_retry_after,
    list_names,
    list_servers,
    list_statuses,
    look_up_spans,
    look_ups_expected,
    metadata_url,
)
from resolab.trials.live.own_client import QueryClientSettings, ask, ping, why_fewer
from resolab.trials.live.records_of_trial import (
    flag_look_up,
    judge_queries,
    load_records,
    make_left_alone_record,
    unknown_lines,
)
from resolab.trials.live.resolver_addresses import ResolverRoute
from resolab.trials.live.stubs import LiveStub
from resolab.trials.page_load.records_of_load import LoadContext
from resolab.trials.trial_result import TrialResult

QUERIES_PER_NAME = 3
"""The assumed queries per name of a browser's own resolver: A, AAAA and HTTPS. A browser is free to ask more."""
MOST_NAMES = 100
"""The maximum number of a page's names for our client's queries."""
STUB_WRITES_WITHIN_S = 0.05
CLOCKS_APART_S = 0.25
"""The tolerance between navigationStart and the document's request, in s. A browser's look-up instants count from this
request."""


@dataclass(slots=True)
class LiveTrialContext:
    """The state shared by all trials of a bed."""

    place: AccessInterface
    live: LiveSettings
    client: QueryClientSettings
    ledger: Ledger
    browsers: LiveBrowsers
    stub: LiveStub
    stub_records: list[Record]
    """The list receiving the stub's records."""
    asked: QueryHistory
    ipv6: bool
    authority_sha256: str | None
    page_timeout_s: float
    known_names: dict[str, list[str]] = field(default_factory=dict)
    """The names of loaded sites, by the page's name."""


class LiveTrial:
    """A trial of a site over a resolver, transport and browser."""

    def __init__(
        self,
        around: LiveTrialContext,
        condition: Condition,
        site: LiveSite,
        reached: ResolverRoute,
        agent: tuple[str, str],
    ) -> None:
        self._around, self._condition, self._site, self._reached = around, condition, site, reached
        self._user_agent, self._version = agent
        self._forwarded: list[QueryRecord] = []
        self._queries: list[QueryRecord] = []
        self._signs: dict[StopReason, StopSign] = {}
        self._unknown: list[str] = []
        self._since_s = self._until_s = 0.0

    def build_left_alone(self, why: str, waited_s: float) -> TrialResult:
        """Return the result for a site not contacted: the reason, and the queries sent before."""
        limit_ms = self._around.page_timeout_s * 1e3
        load = make_left_alone_record(self._site.url, self._condition, self._version, limit_ms, why)
        own = self._record([], [], waited_s, os.getloadavg()[0])
        return TrialResult([load, *self._queries, own], flags=[], failed=True)

    async def run(self, turn: Turn) -> TrialResult:
        """Run the trial and return its result."""
        if self._around.live.known_names_first:
            await self._ask(self._around.known_names.get(self._site.name, [self._site.host]))
            if (refused := self._signs.get(StopReason.REFUSED)) is not None:
                turn.settle(0)
                return self.build_left_alone(f"{self._reached.host} is left alone: {refused.detail}", turn.waited_s)
        load, running = await self._load()
        average = os.getloadavg()[0]
        names = list_names(load.measured)
        self._around.known_names[self._site.name] = names
        turn.settle(self._note_look_ups(load, names))
        self._heed(self._signs_of(load, names))
        log = self._log_of(running)
        asked = {read_name(query) for query in self._queries}
        await self._ask([name for name in names if name not in asked])
        may_ping = StopReason.REFUSED not in self._signs
        pinged = await ping(self._around.client, self._reached) if may_ping else None
        judged = judge_load(load, log, self._forwarded, self._queries)
        self._unknown += unknown_lines(load.measured, judged)
        loader = LoadContext(running.browser.version, self._condition)
        pings = [] if pinged is None else [pinged]
        own = self._record(names, list_servers(load.measured), turn.waited_s, average)
        return TrialResult(
            [*load_records(load, judged, loader), *self._forwarded, *self._queries, *pings, own],
            flags=flag_look_up(judged),
            failed=load.failure is not None,
            overhead_ms=load.overhead.total_ms,
        )

    async def _load(self) -> tuple[LoadResult, RunningBrowser]:
        around = self._around
        if self._condition.resolver_path is ResolverPath.STUB:
            await around.stub.put(self._reached)
        running = await around.browsers.get(choose_browser_way(self._condition), self._reached)
        around.stub_records.clear()
        running.log.mark()
        self._since_s = time.monotonic()
        request = LoadRequest(url=self._site.url, timeout_s=around.page_timeout_s, warmup=False)
        load = await running.browser.load(request)
        # What the stub wrote of the last look-ups is on its way.
        await asyncio.sleep(STUB_WRITES_WITHIN_S)
        self._until_s = time.monotonic()
        return load, running

    def _note_look_ups(self, load: LoadResult, names: Sequence[str]) -> int:
        """Note and count the load's queries to the resolver; the count of a browser's own look-ups is an estimate."""
        around, resolver = self._around, self._condition.resolver
        if self._condition.resolver_path is ResolverPath.STUB:
            seen = [one for one in around.stub_records if isinstance(one, QueryRecord)]
            self._forwarded = judge_queries(resolver, seen, around.asked)
            return len(self._forwarded)
        spans = self._spans(load)
        condition = self._condition
        for look_up in look_ups_expected(
            names, ipv6=around.ipv6, browser=condition.browser_kind, dns_transport=condition.dns_transport
        ):
            around.asked.note_unseen(resolver, [look_up], *spans.get(look_up[0], (self._since_s, self._until_s)))
        return QUERIES_PER_NAME * len(names)

    def _spans(self, load: LoadResult) -> dict[str, tuple[float, float]]:
        """Return the browser's look-up instants per name, on our clock; names without known instants are left out."""
        timings = load.measured.timings
        if timings is None or timings.navigation_start_unix_ms is None:
            return {}
        begin_s = timings.navigation_start_unix_ms / 1e3 - (time.time() - time.monotonic())
        return {
            name: (
                max(self._since_s, begin_s + begin_ms / 1e3 - CLOCKS_APART_S),
                min(self._until_s, begin_s + end_ms / 1e3 + CLOCKS_APART_S),
            )
            for name, (begin_ms, end_ms) in look_up_spans(load.measured).items()
        }

    async def _ask(self, names: Sequence[str]) -> None:
        """Ask for names with our own client, up to the maximum allowed at once."""
        around = self._around
        most = min(MOST_NAMES, around.ledger.caps.queries_per_resolver_per_hour // around.client.queries_count([""]))
        if len(names) > most:
            self._unknown.append(f"queries: {len(names) - most} of {len(names)} names were not asked: too many at once")
        names = names[:most]
        if not names:
            return
        wanted_count = around.client.queries_count(names)
        noted = await pause(around.ledger, resolver=self._reached.host, queries_count=wanted_count)
        if isinstance(noted, ContactRefusal):
            self._unknown.append(f"queries: {noted.detail}")
            return
        found = await ask(around.client, self._reached, names, interval_ms=around.ledger.caps.query_interval_ms)
        if len(found) < wanted_count:
            self._unknown.append(f"queries: {len(found)} of {wanted_count} were asked: {why_fewer(found)}")
        self._queries += judge_queries(self._condition.resolver, found, around.asked)
        self._heed(stop_sign_of_query(one, self._reached.host, now_s=time.time()) for one in found)

    def _signs_of(self, load: LoadResult, names: Sequence[str]) -> Iterable[StopSign | None]:
        """Find stop signs in the load, in its hosts, and in the stub's responses."""
        url, now_s, page = self._site.url, time.time(), load.measured
        yield stop_sign_of_load(
            url, now_s=now_s, status=page.status, statuses=list_statuses(page), retry_after=find_retry_after(page)
        )
        yield stop_sign_of_hosts(url, names, self._around.ledger.opt_out, now_s=now_s)
        yield from (stop_sign_of_query(one, self._reached.host, now_s=now_s) for one in self._forwarded)

    def _heed(self, signs: Iterable[StopSign | None]) -> None:
        """Note the first sign of each kind."""
        for sign in signs:
            if sign is not None and sign.reason not in self._signs:
                self._signs[sign.reason] = sign
                self._around.ledger.note_stop(time.time(), sign)

    def _log_of(self, running: RunningBrowser) -> BrowserLog | None:
        try:
            return running.log.read()
        except ConfigurationError as error:
            self._unknown.append(f"handshake_mode: {error}")
            return None

    def _record(self, names: Sequence[str], servers: Sequence[str], waited_s: float, average: float) -> LiveTrialRecord:
        around = self._around
        return LiveTrialRecord(
            vantage_point=around.live.vantage_point,
            way=around.place.way,
            way_note=around.place.note,
            url=metadata_url(self._site.url),
            resolver=self._condition.resolver,
            dns_transport=self._condition.dns_transport,
            resolver_url=self._reached.url,
            resolver_address=self._reached.address,
            system_resolver=around.place.system_nameserver,
            system_resolver_forwards_to=list(around.place.forwards_to),
            ipv6=around.ipv6,
            user_agent=self._user_agent,
            operator_url=around.live.operator_url,
            authority_sha256=around.authority_sha256,
            names=list(names),
            server_addresses=list(servers),
            waited_s=waited_s,
            stop_sign=next(iter(self._signs), None),
            unknown=self._unknown,
            load_average_1min=average,
        )
