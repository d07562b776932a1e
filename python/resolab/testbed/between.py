"""What stands between a browser and the network: a stub, a gateway, or nothing, as a trial asks.

For: one of them at a time at the one address browsers ask, what is closed before a load, and who died. Not for: the
programs themselves (`stubs`, `gateways`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from resolab import engine
from resolab.plan import Condition
from resolab.records import (
    ConnectionState,
    HandshakeMode,
    KeyExchangeGroup,
    PageSpeculation,
    Record,
    ResolverPath,
    TrialFlag,
)
from resolab.testbed.gateways import GatewayPlace, gateway_settings
from resolab.testbed.stubs import StubKind, StubPlace

ENDED = {ResolverPath.STUB: TrialFlag.STUB_ENDED, ResolverPath.GATEWAY: TrialFlag.GATEWAY_ENDED}


class Between:
    """The stub's and the gateway's place."""

    def __init__(
        self,
        path_pid: int,
        ca_file: Path,
        on_record: Callable[[Record], None],
        groups: Sequence[KeyExchangeGroup] = (),
        *,
        key_log_file: Path | None = None,
    ) -> None:
        self.stubs = StubPlace(path_pid, ca_file, on_record, groups, key_log_file=key_log_file)
        self.gateways = GatewayPlace(path_pid, ca_file, on_record, groups, key_log_file=key_log_file)

    async def put(self, condition: Condition) -> None:
        """Have there what the condition's browser asks, without open connections and tickets."""
        match condition.resolver_path:
            case ResolverPath.NATIVE:
                pass
            case ResolverPath.STUB:
                await self.gateways.close()
                await self.stubs.put(StubKind(condition.dns_transport, condition.requested_dns_handshake_mode))
            case ResolverPath.GATEWAY:
                await self.stubs.close()
                await self.gateways.put(condition.dns_transport, gateway_settings(condition))

    def program(self, condition: Condition) -> engine.Stub | engine.Gateway | None:
        """Find who stands between the condition's browser and the network."""
        match condition.resolver_path:
            case ResolverPath.NATIVE:
                return None
            case ResolverPath.STUB:
                return self.stubs.stub
            case ResolverPath.GATEWAY:
                return self.gateways.gateway

    async def close_after_warmup(self, condition: Condition, host: str) -> None:
        """Close what the measured load must not find open, and forget tickets it must not have.

        The host is the document's, which a gateway may have to ask for before the browser does.
        """
        program = self.program(condition)
        full = HandshakeMode.FULL
        if isinstance(program, engine.Gateway):
            asked = {condition.requested_dns_handshake_mode, condition.requested_handshake_mode}
            speculates = condition.speculation is PageSpeculation.DOCUMENT
            await program.new_load(forget_tickets=asked == {full}, speculate_for=host if speculates else None)
        elif program is not None and condition.dns_connection_state is ConnectionState.COLD:
            await program.close_connections(forget_tickets=condition.requested_dns_handshake_mode is full)

    async def end_load(self, condition: Condition) -> None:
        """Have a gateway write all it knows of the load: what it says of a connection it says at its end."""
        program = self.program(condition)
        if isinstance(program, engine.Gateway):
            await program.new_load(forget_tickets=False)

    def flags(self, condition: Condition) -> list[TrialFlag]:
        """Say whether it died."""
        program = self.program(condition)
        return [] if program is None or program.process.running else [ENDED[condition.resolver_path]]

    async def close(self) -> None:
        """End whichever is there."""
        await self.stubs.close()
        await self.gateways.close()
