"""The program between a browser and the network: a stub, a gateway, or no program, as a trial asks.

For: running one program at a time at the browsers' resolver address, closing state before a load, and noticing the
program's death. Not for: the programs themselves (`engine`).

The behaviour of a stub or a gateway is fixed at the start. A start takes some tens of milliseconds, so the program is
replaced whenever a trial asks for another kind. A single browser process then serves every kind.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import ResolabError
from resolab.basics.records import (
    AnswerPush,
    ConnectionSharing,
    ConnectionState,
    DnsTransport,
    HandshakeMode,
    KeyExchangeGroup,
    PageSpeculation,
    QueryGathering,
    Record,
    ResolverPath,
    TrialFlag,
)
from resolab.lab import engine, layout
from resolab.lab.engine import GatewaySettings
from resolab.plan import Condition

LISTEN = f"{layout.STUB_ADDRESS}:53"
GATHER_MS = 5
"""The gathering time for `query_gathering` `on`, in ms (docs/formats/plan.md)."""
ENDED = {ResolverPath.STUB: TrialFlag.STUB_ENDED, ResolverPath.GATEWAY: TrialFlag.GATEWAY_ENDED}


@dataclass(frozen=True, slots=True)
class ProgramSettings:
    """The settings fixed at the start of a stub or gateway."""

    dns_transport: DnsTransport
    dns_handshake: HandshakeMode
    gateway: GatewaySettings | None = None
    """The gateway's settings; `None` for a stub."""
    gather_ms: int | None = None
    """The time of a stub's message waiting for more queries, in ms."""
    address: str = layout.RESOLVER_ADDRESS
    """The resolver's address."""


class ClientProgramSlot:
    """The position between browser and network, with the current program."""

    def __init__(
        self,
        path_pid: int,
        ca_file: Path,
        on_record: Callable[[Record], None],
        groups: Sequence[KeyExchangeGroup] = (),
        *,
        key_log_file: Path | None = None,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        self._path_pid, self._ca_file, self._on_record, self._groups = path_pid, ca_file, on_record, groups
        self._key_log_file = key_log_file
        self._addresses = layout.assign_resolver_addresses() if addresses is None else addresses
        self._kind: ProgramSettings | None = None
        self._standing: engine.Stub | engine.Gateway | None = None

    def program(self, condition: Condition) -> engine.Stub | engine.Gateway | None:
        """Return the program between the condition's browser and the network; `None` without a program."""
        return None if condition.resolver_path is ResolverPath.NATIVE else self._standing

    async def put(self, condition: Condition) -> None:
        """Start or reuse the program for the condition; a reused program has no open connection and no ticket."""
        kind = choose_program(condition, self._addresses[condition.resolver_software])
        if kind is None:
            return
        if self._kind != kind or not await self._is_as_new():
            await self.close()
            self._standing, self._kind = await self._start(kind), kind

    async def _is_as_new(self) -> bool:
        """Make the current program close and forget everything; return False when dead or without an answer."""
        standing = self._standing
        if standing is None or not standing.process.running:
            return False
        try:
            if isinstance(standing, engine.Gateway):
                await standing.new_load(forget_tickets=True)
            else:
                await standing.close_connections(forget_tickets=True)
        except ResolabError:
            return False
        return True

    async def _start(self, kind: ProgramSettings) -> engine.Stub | engine.Gateway:
        at_resolver = ConnectionSharing.RESOLVER_CONNECTION
        carries_pages = kind.gateway is not None and kind.gateway.sharing is at_resolver
        resolver = layout.resolver(
            kind.dns_transport, self._ca_file, self._groups, carries_pages=carries_pages, address=kind.address
        )
        if kind.gateway is None:
            return await engine.Stub.start(
                self._path_pid,
                LISTEN,
                resolver,
                handshake=kind.dns_handshake,
                gather_ms=kind.gather_ms,
                on_record=self._on_record,
                key_log_file=self._key_log_file,
            )
        return await engine.Gateway.start(
            self._path_pid,
            LISTEN,
            resolver,
            kind.gateway,
            handshake=kind.dns_handshake,
            # Browsers trust it: it is the edge's.
            ca_folder=self._ca_file.parent,
            on_record=self._on_record,
            key_log_file=self._key_log_file,
        )

    async def close_after_warmup(self, condition: Condition, hosts: Sequence[str]) -> None:
        """Close connections not allowed for the measured load, and forget forbidden tickets.

        A stub forgets its knowledge of the resolver when closing, but keeps tickets unless told to forget. The hosts
        are the page's, the document's first. A gateway may have to request the document before the browser does, and a
        stub may have to ask for all hosts.
        """
        program, full = self.program(condition), HandshakeMode.FULL
        if isinstance(program, engine.Gateway):
            asked = {condition.requested_dns_handshake_mode, condition.requested_handshake_mode}
            speculates = condition.speculation is PageSpeculation.DOCUMENT
            command = program.new_load(forget_tickets=asked == {full}, speculate_for=hosts[0] if speculates else None)
            await self._or_end(program, command)
        elif program is not None:
            if condition.dns_connection_state is ConnectionState.COLD:
                await program.close_connections(forget_tickets=condition.requested_dns_handshake_mode is full)
            if condition.answer_push is AnswerPush.PAGE_NAMES:
                await program.push_answers(hosts)

    async def end_load(self, condition: Condition) -> None:
        """Make a gateway write all records of the load; a connection's record is written at the connection's end."""
        program = self.program(condition)
        if isinstance(program, engine.Gateway):
            await self._or_end(program, program.new_load(forget_tickets=False))

    async def _or_end(self, gateway: engine.Gateway, command: Awaitable[None]) -> None:
        """Run a command; end a gateway without an answer, as its state would be unknown for the next load."""
        try:
            await command
        except ResolabError:
            await gateway.close()
            raise

    def flags(self, condition: Condition) -> list[TrialFlag]:
        """Return a flag when the program died."""
        program = self.program(condition)
        return [] if program is None or program.process.running else [ENDED[condition.resolver_path]]

    async def close(self) -> None:
        """End the current program, if any."""
        standing, self._standing = self._standing, None
        if standing is not None:
            await standing.close()


def choose_program(condition: Condition, address: str = layout.RESOLVER_ADDRESS) -> ProgramSettings | None:
    """Return the kind of program asked by a condition's browser; `None`: the network itself."""
    match condition.resolver_path:
        case ResolverPath.NATIVE:
            return None
        case ResolverPath.STUB:
            gather_ms = GATHER_MS if condition.query_gathering is QueryGathering.ON else None
            return ProgramSettings(
                condition.dns_transport, condition.requested_dns_handshake_mode, gather_ms=gather_ms, address=address
            )
        case ResolverPath.GATEWAY:
            settings = GatewaySettings(
                page_handshake=condition.requested_handshake_mode,
                page_version=condition.http_version,
                sharing=condition.connection_sharing,
            )
            return ProgramSettings(condition.dns_transport, condition.requested_dns_handshake_mode, settings)
