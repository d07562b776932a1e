"""What stands between a browser and the network: a stub, a gateway, or nothing, as a trial asks.

For: one of them at a time at the one address browsers ask, what is closed before a load, and whether it died. Not for:
the programs themselves (`engine`).

What a stub or a gateway does is fixed when it starts. It starts in some tens of milliseconds, so another one takes its
place whenever a trial asks for another kind; one browser process then serves every kind.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab import engine
from resolab.engine import GatewaySettings
from resolab.errors import ResolabError
from resolab.plan import Condition
from resolab.records import (
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
from resolab.testbed import layout

LISTEN = f"{layout.STUB_ADDRESS}:53"
GATHER_MS = 5
"""What `query_gathering` `on` means (docs/formats/plan.md)."""
ENDED = {ResolverPath.STUB: TrialFlag.STUB_ENDED, ResolverPath.GATEWAY: TrialFlag.GATEWAY_ENDED}


@dataclass(frozen=True, slots=True)
class Kind:
    """What is fixed when one starts."""

    dns_transport: DnsTransport
    dns_handshake: HandshakeMode
    gateway: GatewaySettings | None = None
    """None: it is a stub."""
    gather_ms: int | None = None
    """How long a stub's message waits for more queries."""


class Between:
    """The place, and who is there."""

    def __init__(
        self,
        path_pid: int,
        ca_file: Path,
        on_record: Callable[[Record], None],
        groups: Sequence[KeyExchangeGroup] = (),
        *,
        key_log_file: Path | None = None,
    ) -> None:
        self._path_pid, self._ca_file, self._on_record, self._groups = path_pid, ca_file, on_record, groups
        self._key_log_file = key_log_file
        self._kind: Kind | None = None
        self._standing: engine.Stub | engine.Gateway | None = None

    def program(self, condition: Condition) -> engine.Stub | engine.Gateway | None:
        """Find who stands between the condition's browser and the network."""
        return None if condition.resolver_path is ResolverPath.NATIVE else self._standing

    async def put(self, condition: Condition) -> None:
        """Have there what the condition's browser asks; one that is kept has no open connection and no ticket."""
        kind = kind_of(condition)
        if kind is None:
            return
        if self._kind != kind or not await self._is_as_new():
            await self.close()
            self._standing, self._kind = await self._start(kind), kind

    async def _is_as_new(self) -> bool:
        """Have who is there close and forget all; one that is dead, or does not answer, is as good as none."""
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

    async def _start(self, kind: Kind) -> engine.Stub | engine.Gateway:
        at_resolver = ConnectionSharing.RESOLVER_CONNECTION
        carries_pages = kind.gateway is not None and kind.gateway.sharing is at_resolver
        resolver = layout.resolver(kind.dns_transport, self._ca_file, self._groups, carries_pages=carries_pages)
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
        """Close what the measured load must not find open, and forget tickets it must not have.

        Closing makes a stub forget what it learnt of its resolver, whatever it keeps of what that gave it.

        The hosts are the page's, the document's first: a gateway may have to ask for that before the browser does, and
        a stub for all of them.
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
        """Have a gateway write all it knows of the load: what it says of a connection it says at its end."""
        program = self.program(condition)
        if isinstance(program, engine.Gateway):
            await self._or_end(program, program.new_load(forget_tickets=False))

    async def _or_end(self, gateway: engine.Gateway, command: Awaitable[None]) -> None:
        """Carry out a command; a gateway that does not answer is ended: its next load would find who knows what."""
        try:
            await command
        except ResolabError:
            await gateway.close()
            raise

    def flags(self, condition: Condition) -> list[TrialFlag]:
        """Say whether it died."""
        program = self.program(condition)
        return [] if program is None or program.process.running else [ENDED[condition.resolver_path]]

    async def close(self) -> None:
        """End whoever is there."""
        standing, self._standing = self._standing, None
        if standing is not None:
            await standing.close()


def kind_of(condition: Condition) -> Kind | None:
    """Say what a condition's browser asks; None: the network itself."""
    match condition.resolver_path:
        case ResolverPath.NATIVE:
            return None
        case ResolverPath.STUB:
            gather_ms = GATHER_MS if condition.query_gathering is QueryGathering.ON else None
            return Kind(condition.dns_transport, condition.requested_dns_handshake_mode, gather_ms=gather_ms)
        case ResolverPath.GATEWAY:
            settings = GatewaySettings(
                page_handshake=condition.requested_handshake_mode,
                page_version=condition.http_version,
                sharing=condition.connection_sharing,
            )
            return Kind(condition.dns_transport, condition.requested_dns_handshake_mode, settings)
