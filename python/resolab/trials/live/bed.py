"""The live bed of a campaign: browsers, stub and client on the machine's own network, and trials on the bed.

For: `LiveBed.run_trial(condition)`, the live counterpart of a testbed's. Not for: order, repetition and files
(`campaign`), or the steps of a trial during the turn (`trial`).

Everything in a trial belongs to one turn of the ledger, so no other measurement runs beside the trial and no cap is
exceeded. Hosts to be left alone are not contacted, and the trial records the reason.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.basics.records import BrowserKind, Record, ResolverPath
from resolab.browser import Browser, BrowserSettings
from resolab.browser.drivers import MAKERS
from resolab.browser.find import VERSION_OF
from resolab.lab.running_parts import RunningParts
from resolab.lab.scratch import scratch_folder
from resolab.plan import Condition, LiveSettings, Plan
from resolab.plan.manners import (
    HARD_CAPS,
    Ledger,
    check_operator,
    fetch_opt_out,
    my_turn,
    refuse_opted_out,
    user_agent_suffix,
)
from resolab.trials.live.access_interface import AccessInterface
from resolab.trials.live.authority import further_authority
from resolab.trials.live.browsers import LiveBrowsers, LiveBrowserSetup, build_settings, choose_browser_way
from resolab.trials.live.earlier_queries import read_earlier_queries
from resolab.trials.live.network_access import open_access
from resolab.trials.live.own_client import QueryClientSettings
from resolab.trials.live.resolver_addresses import ByTransport, ResolverRoute, reach
from resolab.trials.live.stubs import LiveStub
from resolab.trials.live.trial import LiveTrial, LiveTrialContext
from resolab.trials.live.user_agents import user_agent, version_number
from resolab.trials.trial_result import TrialResult


class LiveBed(RunningParts):
    """The browsers, stub and client of a campaign, with a method to run a trial."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        *,
        place: AccessInterface | None = None,
        makers: Mapping[BrowserKind, Callable[[], Browser]] = MAKERS,
        on_wait: Callable[[float], None] = lambda _wait_s: None,
        client: QueryClientSettings | None = None,
    ) -> None:
        """Prepare for a plan; `folder` is the dataset's: the name of the run and the source of earlier queries.

        `on_wait` receives the wait for a cap, in s; `client` sets the number of queries and pings beside a load.
        `place` and `makers` are for tests.
        """
        super().__init__()
        assert plan.live is not None, "a live bed is for live plans"
        self._plan, self._live, self._folder = plan, plan.live, folder
        self._place, self._makers, self._on_wait = place, makers, on_wait
        self._client = client or QueryClientSettings()
        self._records: list[Record] = []
        self._batch: str | None = None

    async def _start(self) -> None:
        live = self._live
        check_operator(live.operator_url, [site.url for site in live.sites.values()])
        scratch = self._stack.enter_context(scratch_folder())
        place, ipv6 = await self._stand()
        self._authority = further_authority(scratch)
        self._reached = await reach(live.resolvers, place.system_nameserver)
        _check_reached(self._reached.values())
        _check_place(place, self._plan, self._reached)
        bundle = None if self._authority is None else self._authority.bundle
        client = replace(self._client, bundle=bundle, groups=self._plan.key_exchange.client)
        caps = HARD_CAPS.lower(live.caps)
        self._ledger = Ledger.open(caps=caps, run=str(self._folder.resolve()), now_s=time.time())
        self._agents = await asyncio.to_thread(_user_agents, self._plan, live)
        stub = LiveStub(place, client, self._records.append)
        self._stack.push_async_callback(stub.close)
        browsers = LiveBrowsers(place, self._settings(scratch, place), scratch, self._makers)
        self._stack.push_async_callback(browsers.close)
        self._surroundings = LiveTrialContext(
            place=place,
            live=live,
            client=client,
            ledger=self._ledger,
            browsers=browsers,
            stub=stub,
            stub_records=self._records,
            asked=await asyncio.to_thread(read_earlier_queries, self._folder),
            ipv6=ipv6,
            authority_sha256=None if self._authority is None else self._authority.sha256,
            page_timeout_s=self._plan.limits.page_timeout_s,
        )

    async def _stand(self) -> tuple[AccessInterface, bool]:
        """Set up the machine's network access; return the access and True when the machine has IPv6."""
        if self._place is not None:
            return self._place, False
        access = await self._stack.enter_async_context(open_access())
        return access, access.facts.ipv6

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        """Run one trial during a turn; hosts to be left alone are not contacted."""
        await self._begin_batch(trial_id)
        reached = self._reached[condition.resolver, condition.dns_transport]
        site = self._live.sites[condition.page]
        trial = LiveTrial(self._surroundings, condition, site, reached, self._agents[condition.browser_kind])
        if reached.address is not None and self._ledger.opt_out.covers(reached.address):
            return trial.build_left_alone(refuse_opted_out(reached.address).detail, 0.0)
        async with my_turn(self._ledger, site=site.url, resolver=reached.host, on_wait=self._on_wait) as turn:
            if turn.refusal is not None:
                return trial.build_left_alone(turn.refusal.detail, turn.waited_s)
            return await trial.run(turn)

    async def _begin_batch(self, trial_id: str) -> None:
        """Fetch the opt-out list anew at the beginning of a block; without the list no host is contacted."""
        batch = trial_id.partition("-")[0]
        if batch == self._batch:
            return
        if self._live.opt_out is not None:
            file = None if self._authority is None else self._authority.file
            self._ledger.opt_out = await asyncio.to_thread(
                fetch_opt_out,
                self._live.opt_out,
                user_agent=user_agent_suffix(self._live.operator_url),
                authority=file,
            )
        self._batch = batch

    def _settings(
        self, scratch: Path, place: AccessInterface
    ) -> Callable[[LiveBrowserSetup, ResolverRoute], BrowserSettings]:
        hosts = tuple(dict.fromkeys(site.host for site in self._live.sites.values()))
        file = None if self._authority is None else self._authority.file
        return lambda way, reached: build_settings(
            way,
            reached,
            user_agent=self._agents[way.browser][0],
            ca_file=file,
            folder=scratch,
            hosts=hosts,
            own_sandbox=place.own_sandbox,
        )


def _user_agents(plan: Plan, live: LiveSettings) -> dict[BrowserKind, tuple[str, str]]:
    """Write the user agent of every browser of the plan, with the version."""
    versions = {
        browser: version_number(VERSION_OF[browser]()) for browser in {one.browser_kind for one in plan.conditions()}
    }
    return {
        browser: (user_agent(browser, version, live.operator_url), version) for browser, version in versions.items()
    }


def _check_place(place: AccessInterface, plan: Plan, reached: ByTransport) -> None:
    """Raise `MachineError` for loads not possible with this machine's method."""
    for condition in plan.conditions():
        way = choose_browser_way(condition)
        by_stub = condition.resolver_path is ResolverPath.STUB
        nameserver = reached[condition.resolver, condition.dns_transport].address
        refusal = place.refusal(by_stub=by_stub, speaks_doh=way.speaks_doh, nameserver=nameserver)
        if refusal is not None:
            raise MachineError(f"could not run {condition.id}: {refusal}")


def _check_reached(reached: Iterable[ResolverRoute]) -> None:
    lost = next((one for one in reached if one.address is None), None)
    if lost is not None:
        problem = f"its name {lost.host} was not found" if lost.host else "/etc/resolv.conf has no name server"
        raise MachineError(f"could not reach resolver {lost.name} over {lost.dns_transport}: {problem}; mend the plan")
