"""The box: a layout as running programs in separate hosts, from start to end.

For: an asynchronous context starting and ending a working internet. Not for: the content of the box (`layout_builder`),
commands inside the box (`home`), its truth (`truth`).
"""

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import EdgeLoadSite, EdgeReadyRecord, QueryRecord, Record
from resolab.basics.servers.certificates import certify
from resolab.extras.internet.authority import wait_for_authority
from resolab.extras.internet.contacts import ContactCounter
from resolab.extras.internet.edges import configure_edges
from resolab.extras.internet.exchange_config import exchange_configuration
from resolab.extras.internet.failures import OPT_OUT_FILE, OPT_OUT_HOST
from resolab.extras.internet.folder import LAYOUT_FILE, OPT_OUT_FOLDER, STATE_FOLDER
from resolab.extras.internet.layout import HOME, LOCAL, BoxLayout
from resolab.extras.internet.server_processes import ServerHandle, list_missing_programs
from resolab.extras.internet.servers import ServerProgram, authoritative, recursive
from resolab.lab.engine import CoreProcess, enter_prefix, find_core
from resolab.lab.engine.internet import Internet
from resolab.lab.engine.programs import build_environment

EDGE_TIMEOUT_S = 30.0
PRIMING_NAME = "prime.invalid"
"""A name below no top domain. A query for this name only makes a resolver learn the root's servers."""
PRIMING_TIMEOUT_S = 20.0
AUTHORITY_VARIABLE, BOX_VARIABLE = "RESOLAB_AUTHORITY", "RESOLAB_BOX"
STATE_VARIABLE = "XDG_STATE_HOME"
"""The variable for the folder of live measurements' contact counts: a box's hosts are separate from real hosts."""
COUNT_EVERY_S = 5.0
LOOK_EVERY_S = 0.2
INSIDE = Path(__file__).resolve().parent / "inside"
CONTACTS_FILE, RECURSION_FOLDER = "contacts.json", "recursion"


class Box:
    """A running internet in a box."""

    def __init__(self, layout: BoxLayout, folder: Path, *, seed: int = 1, keep_awake: bool = False) -> None:
        """Prepare a box; `folder` comes from `box_folder`, for the box's files."""
        self.layout = layout
        self.folder = folder
        self.contacts = ContactCounter(layout)
        self._seed = seed
        self._keep_awake = keep_awake
        self._exchange: Internet | None = None
        self._servers: list[ServerHandle] = []
        self._edges: dict[str, CoreProcess] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def authority_file(self) -> Path:
        """Return the certificate of the authority signing for every server."""
        return self.folder / "ca" / "ca.pem"

    @property
    def state_folder(self) -> Path:
        """Return the folder for lasting state of programs at home."""
        return self.folder / STATE_FOLDER

    @property
    def pid(self) -> int:
        """Return the process id of the exchange, for `resolab-core enter --path`."""
        return self._require_exchange().ready.pid

    @property
    def near_address(self) -> str:
        """Return the address of home's name server, the near resolver."""
        return self.layout.resolver(LOCAL).address

    @property
    def servers(self) -> tuple[ServerHandle, ...]:
        """Return the running servers."""
        return tuple(self._servers)

    def prefix(self, host: str) -> list[str]:
        """Return the command prefix for a program in a host, with the near resolver as name server."""
        return enter_prefix(self.pid, host, nameserver=self.near_address)

    def environment(self) -> dict[str, str]:
        """Return the environment of programs at home."""
        own = {AUTHORITY_VARIABLE: self.authority_file, BOX_VARIABLE: self.folder, STATE_VARIABLE: self.state_folder}
        return build_environment() | {name: str(value) for name, value in own.items()}

    async def __aenter__(self) -> Self:
        """Start every program of the box."""
        programs = self.programs()
        if missing := list_missing_programs(programs):
            raise MachineError(f"this machine lacks {', '.join(missing)}: scripts/setup --interop installs them")
        try:
            await self._start(programs)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything; `contacts.json` has all contacts until now."""
        with contextlib.suppress(ResolabError):
            await self.count()
        await self.close()

    async def close(self) -> None:
        """End every program of the box."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        edges, servers = [*self._edges.values()], [*self._servers]
        self._edges.clear()
        self._servers.clear()
        # The exchange last: whatever does not end by itself ends with its host.
        await asyncio.gather(*(edge.close() for edge in edges), *(server.close() for server in servers))
        if self._exchange is not None:
            await self._exchange.close()
            self._exchange = None

    async def count(self) -> None:
        """Take the exchange's counts and write `contacts.json`."""
        if self._exchange is not None:
            self.contacts.add_flows((await self._exchange.count()).flows)
        self.contacts.write(self.folder / CONTACTS_FILE)

    async def wait_until(self, ended: asyncio.Event) -> None:
        """Wait for `ended`; raise when the exchange ends before."""
        while not ended.is_set():
            if not self._require_exchange().process.running:
                raise ResolabError("the exchange of the box ended by itself")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), LOOK_EVERY_S)

    def _require_exchange(self) -> Internet:
        if self._exchange is None:
            raise ResolabError("the box does not run")
        return self._exchange

    def programs(self) -> list[ServerProgram]:
        """List the third-party servers of the box."""
        authorities = [authoritative(self.layout, server, self.folder) for server in self.layout.servers]
        resolvers = [program for one in self.layout.resolvers for program in recursive(self.layout, one, self.folder)]
        return [*authorities, *resolvers]

    async def _start(self, programs: Sequence[ServerProgram]) -> None:
        (self.folder / LAYOUT_FILE).write_bytes(msgspec.json.encode(self.layout, enc_hook=str))
        configuration = self.folder / "internet.toml"
        configuration.write_text(exchange_configuration(self.layout, self._seed), "utf-8")
        self._exchange = await Internet.start(configuration, keep_awake=self._keep_awake)
        ca_folder = self.folder / "ca"
        edges = [
            asyncio.create_task(self._start_edge(name, host, text))
            for name, (host, text) in configure_edges(self.layout, ca_folder).items()
        ]
        try:
            await wait_for_authority(ca_folder)
            await asyncio.gather(*(self._start_server(program) for program in programs), self._start_watching())
        finally:
            await asyncio.gather(*edges, return_exceptions=True)
        for edge in edges:
            edge.result()
        await self._prime()
        self._tasks = [asyncio.create_task(self._keep_counting()), asyncio.create_task(self._keep_opt_outs())]

    async def _start_edge(self, name: str, host: str, text: str) -> None:
        folder = self._folder_of(f"{name}-edge")
        configuration = folder / "edge.toml"
        configuration.write_text(text, "utf-8")
        command = [*self.prefix(host), str(find_core()), "edge", "--config", str(configuration)]

        def take(record: Record) -> None:
            self.contacts.take(name, record)

        edge = await CoreProcess.start(f"the edge {name}", command, take, environment=build_environment())
        self._edges[name] = edge
        await edge.first(EdgeReadyRecord, EDGE_TIMEOUT_S)

    async def _start_server(self, program: ServerProgram) -> None:
        folder = self._folder_of(program.name)
        if program.certificate is not None:
            await certify(self.folder / "ca", folder, program.certificate, program.address)
        server = await ServerHandle.start(program, folder, self.prefix(program.host))
        self._servers.append(server)
        ports = [("udp", program.port), ("tcp", program.port)]
        await server.wait_until_listening(
            program.address, ports + ([("tcp", 853), ("tcp", 443)] if program.certificate else [])
        )

    async def _start_watching(self) -> None:
        """Watch the queries to authoritative servers, and hold the silent ports open."""
        recursion = self.folder / RECURSION_FOLDER
        recursion.mkdir()
        for server in self.layout.servers:
            await self._run_inside(server.host, f"{server.host}-watch", "watch.py", server.host)
            (recursion / f"{server.host}.jsonl").symlink_to(self.folder / f"{server.host}-watch" / "output")
        for resolver in self.layout.resolvers:
            if resolver.swallows:
                await self._run_inside(resolver.name, f"{resolver.name}-silence", "silence.py", resolver.address, "853")

    async def _run_inside(self, host: str, name: str, program: str, *arguments: str) -> None:
        command = [*self.prefix(host), sys.executable, "-I", "-S", str(INSIDE / program), *arguments]
        self._servers.append(await ServerHandle.run(name, self._folder_of(name), command))

    async def _prime(self) -> None:
        """Query every resolver from home until an answer, so each resolver runs and knows the root."""
        waiting = {resolver.address for resolver in self.layout.resolvers}
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PRIMING_TIMEOUT_S
        while waiting:
            if loop.time() > deadline:
                raise MachineError(f"no answer from {', '.join(sorted(waiting))} within {PRIMING_TIMEOUT_S:g} s")
            waiting -= await self._find_answering(waiting)

    async def _find_answering(self, addresses: set[str]) -> set[str]:
        answered: set[str] = set()

        def take(record: Record) -> None:
            if isinstance(record, QueryRecord) and record.rcode == "NXDOMAIN" and record.resolver_address:
                answered.add(record.resolver_address.partition(":")[0])

        told = [word for address in sorted(addresses) for word in ("--resolver", address)]
        command = [*self.prefix(HOME), str(find_core()), "query", *told, "--timeout-ms", "2000", PRIMING_NAME]
        query = await CoreProcess.start("the first query", command, take, environment=self.environment())
        with contextlib.suppress(ResolabError):
            await query.wait(2.0 * len(addresses) + 5.0)
        return answered

    async def _keep_counting(self) -> None:
        while True:
            await asyncio.sleep(COUNT_EVERY_S)
            with contextlib.suppress(ResolabError):
                await self.count()

    async def _keep_opt_outs(self) -> None:
        """Serve the current opt-out list from disk: the edge reads files only on command."""
        folder = self.folder / OPT_OUT_FOLDER
        origin = next(one for site in self.layout.sites for one in site.origins if one.host == OPT_OUT_HOST)
        file = folder / OPT_OUT_FILE
        last = file.stat().st_mtime_ns
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            with contextlib.suppress(OSError, ResolabError):
                if (now := file.stat().st_mtime_ns) != last:
                    await self._load_opt_outs(folder, origin.address)
                    last = now

    async def _load_opt_outs(self, folder: Path, address: str) -> None:
        settings = 'compression = []\ncache_control = "no-store"'
        await self._edges["web"].command(
            lambda number: EdgeLoadSite(
                id=number, host=OPT_OUT_HOST, folder=str(folder), address=address, settings=settings
            )
        )

    def _folder_of(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(mode=0o755)
        return folder
