"""The programs of resolab-core with their arguments and commands as Python objects.

For: the command lines of path, edge, stub, query and enter, in one place. Not for: the order of their use.
"""

import ipaddress
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Self

import msgspec

from resolab.basics.installation import find_core
from resolab.basics.records import (
    CoalescingMode,
    ConnectionState,
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
    FetchRecord,
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
from resolab.lab.engine.process import LINE_LIMIT_BYTES, CoreProcess

START_TIMEOUT_S = 15.0
PATH_LINE_LIMIT_BYTES = 64 << 20
"""The longest line to and from a path, in bytes. A profile with a schedule is a single line: 8.4 MB for 10,000 changes,
the maximum of `crates/link`."""
STUB_CLOSE_TIMEOUT_S = 15.0
"""The time limit of a stub's close command, in s. A stub with a connection being opened first waits for this
connection, on a lossy link as long as a query may take: 5 s."""
QUERY_TIMEOUT_S = 10.0
"""The time limit of a query, in s; a longer query is a failed query."""
QUERY_PATIENCE_S = 5.0
"""The time limit of the query client beyond the time of the queries, in s."""
KEY_LOG_VARIABLE = "SSLKEYLOGFILE"
LOGGING_VARIABLES = (KEY_LOG_VARIABLE, "QLOGDIR")
"""The environment variables removed for measured programs. With these variables every connection would open and write
files, and no record would show their presence."""
OnRecord = Callable[[Record], None]


class ResolverTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A resolver, as described to our clients."""

    url: str
    name: str
    address: str
    ca_file: FilePath
    groups: tuple[KeyExchangeGroup, ...] = ()
    """The key exchange groups to offer the resolver; empty: resolab-core's own choice."""

    def arguments(self) -> list[str]:
        """Return the arguments for the resolver's address, the certificate check and the key exchange groups."""
        groups = ["--groups", ",".join(self.groups)] if self.groups else []
        return ["--ca", str(self.ca_file), "--resolve", f"{self.name}={self.address}", *groups]


def enter_prefix(
    path_pid: int, host: str, *, nameserver: str | None = None, hosts_file: FilePath | None = None
) -> list[str]:
    """Return the command prefix for running a program in one of the path's hosts."""
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
    environment = build_environment(key_log_file)
    return await CoreProcess.start(name, command, on_record, line_limit_bytes=line_limit_bytes, environment=environment)


def build_environment(key_log_file: FilePath | None = None) -> dict[str, str]:
    """Copy the environment without the variables for log files, except the key log requested by a plan."""
    kept = {name: value for name, value in os.environ.items() if name not in LOGGING_VARIABLES}
    return kept if key_log_file is None else kept | {KEY_LOG_VARIABLE: str(key_log_file)}


class _Program:
    """The common base of path, edge and stub: a process with commands and an end."""

    def __init__(self, process: CoreProcess) -> None:
        self.process = process

    async def close(self) -> None:
        """Stop the program and wait until the process has ended."""
        await self.process.close()


class Path(_Program):
    """The emulated path: two hosts and the link between them."""

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
        """Make the hosts and the link between them; `None` as `backend` leaves the choice to resolab-core."""
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
        """Put another profile in force, with fresh loss streams; the schedule starts now unless held."""
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
        """Write every packet from now on into a new file; the file must not exist yet."""
        await self.process.command(lambda number: PathStartCapture(id=number, file=str(file)))

    async def stop_capture(self) -> None:
        """End the capture; afterwards the file is complete."""
        await self.process.command(lambda number: PathStopCapture(id=number))


class Edge(_Program):
    """The DNS and web server, in the path's server host."""

    ready: EdgeReadyRecord

    @classmethod
    async def start(cls, path_pid: int, config_file: FilePath, *, on_record: OnRecord) -> Self:
        """Start the edge and wait for the ready line."""
        command = [*enter_prefix(path_pid, "server"), str(find_core()), "edge", "--config", str(config_file)]
        edge = cls(await _start("the edge", command, on_record))
        try:
            edge.ready = await edge.process.first(EdgeReadyRecord, START_TIMEOUT_S)
        except BaseException:
            await edge.close()
            raise
        return edge

    async def set_ticket_policy(self, name: str, policy: TicketPolicy) -> None:
        """Set the ticket policy for the name's connections from now on."""
        await self.process.command(lambda number: EdgeSetTicketPolicy(id=number, name=name, policy=policy))

    async def close_connections(self, names: Sequence[str] | None = None) -> None:
        """Close all open connections from the server's side; with `names`, only connections for these names."""
        only = None if names is None else list(names)
        await self.process.command(lambda number: EdgeCloseConnections(id=number, names=only))

    async def load_site(self, host: str, folder: FilePath | None, *, address: str, settings: str) -> None:
        """Add or replace a site, with or without files; `settings` are the other keys of the site's table, as TOML."""
        files = None if folder is None else str(folder)
        await self.process.command(
            lambda number: EdgeLoadSite(id=number, host=host, folder=files, address=address, settings=settings)
        )

    async def cover_names(self, names: Sequence[str]) -> None:
        """Make the resolver's certificate cover these names.

        The resolver's connections then serve the sites among these names.
        """
        await self.process.command(lambda number: EdgeCoverNames(id=number, names=list(names)))

    async def set_origin_frames(self, *, telling: bool) -> None:
        """Send or omit ORIGIN frames on connections under shared certificates, from the next connection on."""
        await self.process.command(lambda number: EdgeSetOriginFrames(id=number, telling=telling))

    async def remove_site(self, host: str) -> None:
        """Remove a site and the records of the name; the edge still answers requests under way."""
        await self.process.command(lambda number: EdgeRemoveSite(id=number, host=host))

    async def set_name_behaviour(
        self, name: str, *, delay_ms: float | None = None, failure: FailureMode | None = None
    ) -> None:
        """Delay or fail the name's answers from now on; with neither argument, answer as usual."""
        await self.process.command(
            lambda number: EdgeSetNameBehaviour(id=number, name=name, delay_ms=delay_ms, failure=failure)
        )

    async def set_tickets(
        self, name: str | None, *, lifetime_s: int | None = None, per_handshake_count: int | None = None
    ) -> None:
        """Change the lifetime or number of the name's tickets; `None` keeps the current value."""
        await self.process.command(
            lambda number: EdgeSetTickets(
                id=number, name=name, lifetime_s=lifetime_s, per_handshake_count=per_handshake_count
            )
        )

    async def set_address_validation(self, retry: RetryMode, *, address: str | None = None) -> None:
        """Set the group of QUIC clients sent back for a Retry's token."""
        await self.process.command(lambda number: EdgeSetAddressValidation(id=number, address=address, retry=retry))

    async def set_accepting(self, *, accepting: bool, name: str | None = None, address: str | None = None) -> None:
        """Accept or refuse new connections: for a name, at an address, or all."""
        await self.process.command(
            lambda number: EdgeSetAccepting(id=number, accepting=accepting, name=name, address=address)
        )

    async def set_black_hole(self, *, black_hole: bool, name: str | None = None) -> None:
        """Discard all traffic for a name, or everything, while connections stay open."""
        await self.process.command(lambda number: EdgeSetBlackHole(id=number, name=name, black_hole=black_hole))

    async def summary(self, label: str | None = None) -> None:
        """Make the edge write an `edge_summary` record."""
        await self.process.command(lambda number: EdgeSummary(id=number, label=label))

    async def flush(self) -> None:
        """Wait until the edge has recorded everything seen before this call."""
        await self.process.command(lambda number: EdgeFlush(id=number))


class Stub(_Program):
    """The stub forwarder, in the path's client host."""

    ready: StubReadyRecord

    @classmethod
    async def start(
        cls,
        path_pid: int,
        listen: str,
        resolver: ResolverTarget,
        *,
        handshake: HandshakeMode,
        on_record: OnRecord,
        gather_ms: int | None = None,
        key_log_file: FilePath | None = None,
    ) -> Self:
        """Start the stub and wait for the ready line; the upstream connection waits for the first query."""
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
        """Make the stub ask for these names with the next query.

        The stub answers from the responses until connections are closed.
        """
        await self.process.command(lambda number: StubPushAnswers(id=number, names=list(names)))

    async def close_connections(self, *, forget_tickets: bool) -> None:
        """Close the upstream connection and forget learnt state, for a cold next query."""
        await self.process.command(
            lambda number: StubCloseConnections(id=number, forget_tickets=forget_tickets), STUB_CLOSE_TIMEOUT_S
        )


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """The connections and messages of queries to a resolver."""

    handshake: HandshakeMode = HandshakeMode.FULL
    """The handshake of every new connection; a ticket comes from a priming connection before the first query."""
    connection: ConnectionState = ConnectionState.COLD
    """Cold: a new connection for each query, or for queries sent together. Warm: one connection for all."""
    rounds: int = 1
    """The number of times each name is queried."""
    pause_ms: int = 0
    """The pause between two queries, or between two groups of queries sent together."""
    questions_per_message: int | None = None
    """The number of queries sent together; `None`: one after the other."""
    one_by_one: bool = False
    """True when queries sent together have a message each."""
    gap_seed: int | None = None
    """The seed of exponentially distributed pauses with the mean `pause_ms`; `None`: all pauses are equal."""
    idle_timeout_ms: int | None = None
    """The time without a query until a warm connection is closed; `None`: the resolver decides."""
    timeout_s: float = QUERY_TIMEOUT_S
    """The limit of each query; a longer query is a failed query."""

    def arguments(self) -> list[str]:
        """Return the arguments of `resolab-core query`."""
        arguments = ["--connection", self.connection.value, "--handshake", self.handshake.value]
        arguments += ["--timeout-ms", str(round(self.timeout_s * 1000)), "--count", str(self.rounds)]
        arguments += ["--interval-ms", str(self.pause_ms)] if self.pause_ms else []
        if self.gap_seed is not None:
            arguments += ["--intervals", "exponential", "--seed", str(self.gap_seed)]
        arguments += [] if self.idle_timeout_ms is None else ["--idle-timeout-ms", str(self.idle_timeout_ms)]
        if self.questions_per_message is not None:
            arguments += ["--questions-per-message", str(self.questions_per_message)]
            arguments += ["--one-by-one"] if self.one_by_one else []
        return arguments

    def longest_s(self, queries_count: int) -> float:
        """Return the longest duration of all queries, in s, with a priming query before each that needs a ticket."""
        asked_count = (1 if self.handshake is HandshakeMode.FULL else 2) * self.rounds * queries_count
        # An exponentially distributed pause is ten times its mean once in 22,000 pauses.
        longest_pause_ms = self.pause_ms * (1 if self.gap_seed is None else 10)
        return asked_count * (self.timeout_s + longest_pause_ms / 1000)


async def run_queries(
    path_pid: int,
    resolvers: Sequence[ResolverTarget],
    qnames: Sequence[str],
    options: QueryOptions | None = None,
    *,
    key_log_file: FilePath | None = None,
    host: str = "client",
) -> list[QueryRecord]:
    """Ask each resolver in turn for each name from a host of the path, and return the queries' records.

    Without options, the first name opens a new connection with a full handshake, and further names reuse the
    connection. A query longer than its limit is a failed record like any other. Raises only when the client does not
    end after all queries.
    """
    if options is None:
        options = QueryOptions(connection=ConnectionState.WARM if len(qnames) > 1 else ConnectionState.COLD)
    records: list[QueryRecord] = []

    def keep(record: Record) -> None:
        if isinstance(record, QueryRecord) and record.purpose is QueryPurpose.MEASURED:
            records.append(record)

    command = [*enter_prefix(path_pid, host), str(find_core()), "query"]
    command += [*options.arguments(), *resolvers[0].arguments()]
    for resolver in resolvers:
        command += ["--resolver", resolver.url]
    process = await _start("the query", [*command, *qnames], keep, key_log_file=key_log_file)
    await process.wait(options.longest_s(len(qnames) * len(resolvers)) + QUERY_PATIENCE_S)
    return records


FETCH_TIMEOUT_S = 30.0
"""The time limit of a fetch, in s; a longer fetch is a failed fetch."""


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The connections of a fetch of a name and a document."""

    mode: CoalescingMode = CoalescingMode.SEPARATE
    handshake: HandshakeMode = HandshakeMode.FULL
    """The handshake of every connection; tickets come from a priming fetch before the first."""
    is_speculative: bool = False
    """True when the document is requested in the flight of its name's query."""
    timeout_s: float = FETCH_TIMEOUT_S


async def run_fetch(
    path_pid: int,
    resolver: ResolverTarget,
    url: str,
    options: FetchOptions,
    *,
    key_log_file: FilePath | None = None,
) -> list[FetchRecord]:
    """Fetch a name and a document from the path's client host; return the records of priming and measured fetches.

    A fetch longer than its limit is a failed record. Raises only when the client does not end after all fetches.
    """
    # The private ALPN is negotiated at HTTP/3's address of the resolver.
    is_private = options.mode is CoalescingMode.PRIVATE_ALPN
    arguments = ["fetch", "--mode", options.mode.value]
    arguments += ["--handshake", options.handshake.value, "--timeout-ms", str(round(options.timeout_s * 1000))]
    arguments += ["--resolver", f"h3://{resolver.name}" if is_private else resolver.url, *resolver.arguments()]
    arguments += ["--speculative"] if options.is_speculative else []
    found = await run_client(path_pid, [*arguments, url], 2 * options.timeout_s, key_log_file=key_log_file)
    return [record for record in found if isinstance(record, FetchRecord)]


async def run_client(
    path_pid: int, arguments: Sequence[str], limit_s: float, *, key_log_file: FilePath | None = None
) -> list[Record]:
    """Run a client of resolab-core in the path's client host; `arguments` begin with its command, as `fetch-names`.

    Raises when the client fails, or does not end within the limit in s and `QUERY_PATIENCE_S`.
    """
    records: list[Record] = []
    command = [*enter_prefix(path_pid, "client"), str(find_core()), *arguments]
    process = await _start(f"the client {arguments[0]}", command, records.append, key_log_file=key_log_file)
    await process.wait(limit_s + QUERY_PATIENCE_S)
    return records
