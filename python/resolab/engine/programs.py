"""resolab-core's programs with their arguments and commands as Python objects.

For: the command lines of path, edge, stub, query and enter, in one place. Not for: the order in which they are used.
"""

import ipaddress
import os
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Self

import msgspec

from resolab.engine.process import LINE_LIMIT_BYTES, CoreProcess
from resolab.installation import find_core
from resolab.records import (
    EdgeCloseConnections,
    EdgeCoverNames,
    EdgeFlush,
    EdgeLoadSite,
    EdgeReadyRecord,
    EdgeRemoveSite,
    EdgeSetAccepting,
    EdgeSetAddressValidation,
    EdgeSetBlackHole,
    EdgeSetNameBehaviour,
    EdgeSetOriginFrames,
    EdgeSetTicketPolicy,
    EdgeSetTickets,
    EdgeSummary,
    FailureMode,
    HandshakeMode,
    KeyExchangeGroup,
    LinkProfile,
    PathBackend,
    PathReadyRecord,
    PathSetProfile,
    PathStartCapture,
    PathStartSchedule,
    PathStopCapture,
    PathSummary,
    QueryPurpose,
    QueryRecord,
    Record,
    RetryMode,
    StubCloseConnections,
    StubPushAnswers,
    StubReadyRecord,
    TicketPolicy,
)

START_TIMEOUT_S = 15.0
PATH_LINE_LIMIT_BYTES = 64 << 20
"""A profile with its schedule is one line: 8.4 MB for the 10,000 changes that `crates/link` takes at most."""
STUB_CLOSE_TIMEOUT_S = 15.0
"""A stub that is opening its connection first waits for that, on a lossy link as long as a query may take: 5 s."""
QUERY_TIMEOUT_S = 10.0
"""How long one query may take; one that takes longer is a failed query."""
QUERY_PATIENCE_S = 5.0
"""How long the query client may take beside its queries."""
KEY_LOG_VARIABLE = "SSLKEYLOGFILE"
LOGGING_VARIABLES = (KEY_LOG_VARIABLE, "QLOGDIR")
"""Would have every connection of a measured program open and write files; no record says that they were set."""
OnRecord = Callable[[Record], None]


class Resolver(msgspec.Struct, frozen=True, kw_only=True):
    """A resolver as our clients are told of it."""

    url: str
    name: str
    address: str
    ca_file: FilePath
    groups: tuple[KeyExchangeGroup, ...] = ()
    """Key exchange groups to offer it; none are resolab-core's own choice."""

    def arguments(self) -> list[str]:
        """Arguments that make its name known, its certificate checked and the keys agreed in these groups."""
        groups = ["--groups", ",".join(self.groups)] if self.groups else []
        return ["--ca", str(self.ca_file), "--resolve", f"{self.name}={self.address}", *groups]


def enter_prefix(
    path_pid: int, host: str, *, nameserver: str | None = None, hosts_file: FilePath | None = None
) -> list[str]:
    """Command prefix that runs a program in one of the path's hosts."""
    prefix = [str(find_core()), "enter", "--path", str(path_pid), "--host", host]
    if nameserver is not None:
        prefix += ["--nameserver", str(ipaddress.ip_address(nameserver))]
    if hosts_file is not None:
        prefix += ["--hosts", str(hosts_file)]
    return [*prefix, "--"]


async def _start(
    name: str,
    command: Sequence[str],
    on_record: OnRecord,
    *,
    key_log_file: FilePath | None = None,
    line_limit_bytes: int = LINE_LIMIT_BYTES,
) -> CoreProcess:
    environment = measured_environment(key_log_file)
    return await CoreProcess.start(name, command, on_record, line_limit_bytes=line_limit_bytes, environment=environment)


def measured_environment(key_log_file: FilePath | None = None) -> dict[str, str]:
    """Copy the environment without what has programs write logs while they are measured, but for what a plan asks."""
    kept = {name: value for name, value in os.environ.items() if name not in LOGGING_VARIABLES}
    return kept if key_log_file is None else kept | {KEY_LOG_VARIABLE: str(key_log_file)}


class _Program:
    """What path, edge and stub share: a process that is commanded and closed."""

    def __init__(self, process: CoreProcess) -> None:
        self.process = process

    async def close(self) -> None:
        """Stop it and wait until it has ended."""
        await self.process.close()


class Path(_Program):
    """The emulated path."""

    ready: PathReadyRecord

    @classmethod
    async def start(
        cls,
        profile_file: FilePath,
        *,
        seed: int,
        keep_awake: bool,
        on_record: OnRecord,
        backend: PathBackend | None = None,
        hold_schedule: bool = False,
    ) -> Self:
        """Make the hosts and the link between them; None is resolab-core's own choice of a back end."""
        command = [str(find_core()), "path", "--profile", str(profile_file), "--seed", str(seed)]
        if keep_awake:
            command.append("--keep-awake")
        if hold_schedule:
            command.append("--hold-schedule")
        if backend is not None:
            command += ["--backend", backend.value]
        path = cls(await _start("the path", command, on_record, line_limit_bytes=PATH_LINE_LIMIT_BYTES))
        try:
            path.ready = await path.process.first(PathReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await path.close()
            raise
        return path

    async def set_profile(self, profile: LinkProfile, seed: int, *, hold_schedule: bool = False) -> None:
        """Put another profile in force, with fresh loss streams; its schedule starts now unless held."""
        await self.process.command(
            lambda number: PathSetProfile(id=number, profile=profile, seed=seed, hold_schedule=hold_schedule)
        )

    async def start_schedule(self) -> None:
        """Count the profile's schedule of changes from now."""
        await self.process.command(lambda number: PathStartSchedule(id=number))

    async def summary(self, label: str | None) -> None:
        """Have the window's summary and flows written, and begin a new window."""
        await self.process.command(lambda number: PathSummary(id=number, label=label))

    async def start_capture(self, file: FilePath) -> None:
        """Write every packet from now on into a file, which must not exist."""
        await self.process.command(lambda number: PathStartCapture(id=number, file=str(file)))

    async def stop_capture(self) -> None:
        """End the capture; its file is complete then."""
        await self.process.command(lambda number: PathStopCapture(id=number))


class Edge(_Program):
    """The DNS and web server, in the path's server host."""

    ready: EdgeReadyRecord

    @classmethod
    async def start(cls, path_pid: int, config_file: FilePath, *, on_record: OnRecord) -> Self:
        """Start it and wait until it listens."""
        command = [*enter_prefix(path_pid, "server"), str(find_core()), "edge", "--config", str(config_file)]
        edge = cls(await _start("the edge", command, on_record))
        try:
            edge.ready = await edge.process.first(EdgeReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await edge.close()
            raise
        return edge

    async def set_ticket_policy(self, name: str, policy: TicketPolicy) -> None:
        """Set what the name's connections get from now on."""
        await self.process.command(lambda number: EdgeSetTicketPolicy(id=number, name=name, policy=policy))

    async def close_connections(self, names: Sequence[str] | None = None) -> None:
        """Close every connection that is open from the server's side, or those of some names."""
        only = None if names is None else list(names)
        await self.process.command(lambda number: EdgeCloseConnections(id=number, names=only))

    async def load_site(self, host: str, folder: FilePath | None, *, address: str, settings: str) -> None:
        """Add or replace a site, with or without files; the other keys of its table are `settings`, as TOML."""
        files = None if folder is None else str(folder)
        await self.process.command(
            lambda number: EdgeLoadSite(id=number, host=host, folder=files, address=address, settings=settings)
        )

    async def cover_names(self, names: Sequence[str]) -> None:
        """Have the resolver's certificate cover these names, and its connections serve the sites among them."""
        await self.process.command(lambda number: EdgeCoverNames(id=number, names=list(names)))

    async def set_origin_frames(self, *, telling: bool) -> None:
        """Have connections under shared certificates tell their origins or not, from the next one on."""
        await self.process.command(lambda number: EdgeSetOriginFrames(id=number, telling=telling))

    async def remove_site(self, host: str) -> None:
        """Take a site and its name's records away; requests under way are answered."""
        await self.process.command(lambda number: EdgeRemoveSite(id=number, host=host))

    async def set_name_behaviour(
        self, name: str, *, delay_ms: float | None = None, failure: FailureMode | None = None
    ) -> None:
        """Delay or fail the name's answers from now on; with neither they are as usual."""
        await self.process.command(
            lambda number: EdgeSetNameBehaviour(id=number, name=name, delay_ms=delay_ms, failure=failure)
        )

    async def set_tickets(
        self, name: str | None, *, lifetime_s: int | None = None, per_handshake_count: int | None = None
    ) -> None:
        """Change lifetime or number of the name's tickets; None as a value leaves it."""
        await self.process.command(
            lambda number: EdgeSetTickets(
                id=number, name=name, lifetime_s=lifetime_s, per_handshake_count=per_handshake_count
            )
        )

    async def set_address_validation(self, retry: RetryMode, *, address: str | None = None) -> None:
        """Set which QUIC clients must come back with a Retry's token."""
        await self.process.command(lambda number: EdgeSetAddressValidation(id=number, address=address, retry=retry))

    async def set_accepting(self, *, accepting: bool, name: str | None = None, address: str | None = None) -> None:
        """Take or refuse new connections: of a name, at an address, or all."""
        await self.process.command(
            lambda number: EdgeSetAccepting(id=number, accepting=accepting, name=name, address=address)
        )

    async def set_black_hole(self, *, black_hole: bool, name: str | None = None) -> None:
        """Swallow what comes for a name, or everything, while connections stay open."""
        await self.process.command(lambda number: EdgeSetBlackHole(id=number, name=name, black_hole=black_hole))

    async def summary(self, label: str | None = None) -> None:
        """Have an `edge_summary` record written."""
        await self.process.command(lambda number: EdgeSummary(id=number, label=label))

    async def flush(self) -> None:
        """Wait until everything seen so far has been recorded."""
        await self.process.command(lambda number: EdgeFlush(id=number))


class Stub(_Program):
    """The forwarder, in the path's client host."""

    ready: StubReadyRecord

    @classmethod
    async def start(
        cls,
        path_pid: int,
        listen: str,
        resolver: Resolver,
        *,
        handshake: HandshakeMode,
        on_record: OnRecord,
        gather_ms: int | None = None,
        key_log_file: FilePath | None = None,
    ) -> Self:
        """Start it and wait until it listens; the upstream connection waits for the first query."""
        command = [*enter_prefix(path_pid, "client"), str(find_core()), "stub", "--listen", listen]
        command += ["--upstream", resolver.url, "--handshake", handshake.value, *resolver.arguments()]
        command += [] if gather_ms is None else ["--gather-ms", str(gather_ms)]
        stub = cls(await _start("the stub", command, on_record, key_log_file=key_log_file))
        try:
            stub.ready = await stub.process.first(StubReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await stub.close()
            raise
        return stub

    async def push_answers(self, names: Sequence[str]) -> None:
        """Have it ask for these names with the next query, and answer from what comes until connections are closed."""
        await self.process.command(lambda number: StubPushAnswers(id=number, names=list(names)))

    async def close_connections(self, *, forget_tickets: bool) -> None:
        """Close the upstream connection and have forgotten what was learnt, so that the next query is cold."""
        await self.process.command(
            lambda number: StubCloseConnections(id=number, forget_tickets=forget_tickets), STUB_CLOSE_TIMEOUT_S
        )


async def run_queries(
    path_pid: int,
    resolvers: Sequence[Resolver],
    qnames: Sequence[str],
    *,
    timeout_s: float = QUERY_TIMEOUT_S,
    key_log_file: FilePath | None = None,
) -> list[QueryRecord]:
    """Ask each resolver in turn for each name from the path's client host, full handshakes.

    The first name is asked over connections opened for it, further ones over the same connections. A query that takes
    longer than `timeout_s` is a failed record like any other; only a client that does not end after all of them is an
    error.
    """
    records: list[QueryRecord] = []

    def keep(record: Record) -> None:
        if isinstance(record, QueryRecord) and record.purpose is QueryPurpose.MEASURED:
            records.append(record)

    connection = "warm" if len(qnames) > 1 else "cold"
    command = [*enter_prefix(path_pid, "client"), str(find_core()), "query", "--connection", connection]
    command += ["--handshake", "full", "--timeout-ms", str(round(timeout_s * 1000)), *resolvers[0].arguments()]
    for resolver in resolvers:
        command += ["--resolver", resolver.url]
    process = await _start("the query", [*command, *qnames], keep, key_log_file=key_log_file)
    await process.wait(timeout_s * len(qnames) * len(resolvers) + QUERY_PATIENCE_S)
    return records
