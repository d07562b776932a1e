"""A running lab: an emulated path, and the edge with the plan's pages and resolver behind it.

For: starting both, putting a condition into force, and stopping everything at any end. Not for: the clients of a trial
(`trials`), or judging their records.

One path serves every profile of the plan: the profile is changed between trials, while the link is quiet. An edge that
ended is replaced before the next trial. Without its path a lab is unusable.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from resolab.basics.errors import ResolabError
from resolab.basics.records import ConnectionSharing, DnsTransport, LinkProfile, Record, TrialKind
from resolab.lab import engine, layout
from resolab.lab.artifacts import NOTHING_KEPT, KeptFolders, TrialFileKeeper
from resolab.lab.distance import move_page, move_resolver
from resolab.lab.edge_state import AppliedEdgeState
from resolab.lab.running_parts import RunningParts
from resolab.lab.scratch import scratch_folder
from resolab.lab.sites import assign_sites
from resolab.lab.software import SoftwareRack
from resolab.plan import Condition, Corpus, Plan, stream_seed

DEATH_NOTICE_S = 1.0
"""The wait for a program's end, in s: a command to a dying program may fail before the end is known."""


def add_no_tables(*_given: object) -> str:
    """Return no further table of the edge's configuration."""
    return ""


class Lab(RunningParts):
    """The path and the edge of a campaign, with the records of both."""

    def __init__(
        self,
        plan: Plan,
        corpus: Corpus,
        seed: int,
        *,
        kept: KeptFolders = NOTHING_KEPT,
        add_tables: Callable[[Path], str] = add_no_tables,
    ) -> None:
        """Prepare a lab; `add_tables` returns further tables of the edge's configuration, with files in a folder."""
        super().__init__()
        self._plan, self._corpus, self._seed, self._add_tables = plan, corpus, seed, add_tables
        self.kept = kept
        self.profiles = {name: corpus.profile(name) for name in plan.factors.profile}
        self.sites = assign_sites(corpus, plan.factors.page, plan.pages.distances)
        self.resolver_addresses = layout.assign_resolver_addresses(plan.software)
        self.software = SoftwareRack(plan.software, self.resolver_addresses)
        self.records: list[Record] = []
        """The records of path, edge and clients since the runner of trials last took or cleared them."""

    async def _start(self) -> None:
        self.folder = self._stack.enter_context(scratch_folder())
        self.kept.make_folders()
        self.keeper = TrialFileKeeper(self.kept, self.folder)
        self.path = await self._start_path()
        self._stack.push_async_callback(self.path.close)
        self._edge_config = self.folder / "edge.toml"
        self._edge_config.write_text(self._configuration(self.folder / "ca"), "utf-8")
        self.edge_state = await self._start_edge()
        self._stack.push_async_callback(self._close_edge)
        self.ca_file = Path(self.edge.ready.ca_file)
        await self._stack.enter_async_context(self.software.at(self.path, self.ca_file))

    async def _start_path(self) -> engine.Path:
        return await engine.Path.start(
            self._corpus.profile_file(self._plan.factors.profile[0]),
            seed=self._seed,
            keep_awake=self._plan.instrument.keep_awake,
            backend=self._plan.instrument.backend,
            on_record=self.records.append,
        )

    def _configuration(self, ca_folder: Path) -> str:
        """Write the edge's configuration."""
        common = layout.edge_configuration(
            ca_folder,
            list(self.sites.values()),
            self._plan.key_exchange.edge,
            pages_at_resolver=self._shares_by(ConnectionSharing.RESOLVER_CONNECTION),
            certificates=self._plan.pages.certificates,
            tells_origins=self._shares_by(ConnectionSharing.ORIGIN_FRAME),
            settings=self._plan.edge,
        )
        return f"{common}\n{self._add_tables(self.folder)}"

    def _shares_by(self, sharing: ConnectionSharing) -> bool:
        """Return True when any condition shares its connections by this rule."""
        return any(condition.connection_sharing is sharing for condition in self._plan.conditions())

    async def _start_edge(self) -> AppliedEdgeState:
        # A new one takes the old one's authority from its folder: browsers go on trusting it.
        edge = await engine.Edge.start(self.path.ready.pid, self._edge_config, on_record=self.records.append)
        return AppliedEdgeState(
            edge,
            self.sites,
            miss_delay_ms=self._plan.resolver.miss_delay_ms,
            pages_at_resolver=self._shares_by(ConnectionSharing.RESOLVER_CONNECTION),
            tells_origins=self._shares_by(ConnectionSharing.ORIGIN_FRAME),
        )

    async def _close_edge(self) -> None:
        await self.edge.close()

    @property
    def edge(self) -> engine.Edge:
        """Return the currently running edge."""
        return self.edge_state.edge

    async def replace_dead_edge(self) -> None:
        """Start a new edge when the edge has ended."""
        if not self.edge.process.running:
            await self._close_edge()
            self.edge_state = await self._start_edge()

    async def apply_condition(self, condition: Condition, trial_id: str) -> None:
        """Put a condition into force at the path and at the edge."""
        await self.set_profile(condition, trial_id)
        await self.edge_state.put(condition)
        await self.software.prepare(condition, self._list_asked(condition), self._list_names(condition))

    def _list_asked(self, condition: Condition) -> list[DnsTransport]:
        """List the transports of a trial's queries: beside a page load, all of the plan's."""
        is_load = condition.kind is TrialKind.PAGE_LOAD
        return list(self._plan.factors.dns_transport) if is_load else [condition.dns_transport]

    def _list_names(self, condition: Condition) -> list[str]:
        """List the names of a trial's queries by our own client."""
        further_count = self._plan.queries.warm_count if condition.kind is TrialKind.PAGE_LOAD else 0
        return list(self.sites[condition.page].hosts[: max(condition.names_count, 1 + further_count)])

    def find_resolver_address(self, condition: Condition) -> str:
        """Return the address of a condition's resolver."""
        return self.resolver_addresses[condition.resolver_software]

    def build_resolver(self, condition: Condition, dns_transport: DnsTransport) -> engine.ResolverTarget:
        """Describe a condition's resolver over a transport, for our own client."""
        address = self.find_resolver_address(condition)
        return layout.resolver(dns_transport, self.ca_file, self._plan.key_exchange.client, address=address)

    async def set_profile(self, condition: Condition, trial_id: str) -> None:
        """Set a condition's profile, with loss streams of the trial.

        The loss streams begin anew at each trial, and again after a rehearsal in it. So a trial's losses depend neither
        on the trials before it nor on whether its browser is new. A schedule of changes is for the measured part: it
        waits for its start.
        """
        seed = stream_seed(self._seed, "link", trial_id)
        await self.path.set_profile(self.find_profile(condition), seed, hold_schedule=True)

    def find_profile(self, condition: Condition) -> LinkProfile:
        """Return a condition's profile, with the distances of its page and of its resolver."""
        profile = move_page(self.profiles[condition.profile], self.sites[condition.page])
        return move_resolver(profile, condition.resolver_extra_rtt_ms, self.find_resolver_address(condition))

    async def run_unless_dead(
        self, program: engine.Edge | engine.Stub | engine.Gateway, command: Awaitable[None]
    ) -> None:
        """Run a command; ignore an error from a dead program, as the trial will fail by itself."""
        try:
            await command
        except ResolabError:
            deadline = time.monotonic() + DEATH_NOTICE_S
            while program.process.running:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.01)
