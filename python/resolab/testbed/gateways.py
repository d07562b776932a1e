"""The gateway of a testbed: one at a time, with the transport, handshakes and sharing the trial asks for.

For: starting it and putting another in its place. Not for: browsers, which find it where they find a stub.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from resolab import engine
from resolab.engine import GatewaySettings
from resolab.plan import Condition
from resolab.records import DnsTransport, KeyExchangeGroup, Record
from resolab.testbed import layout


class GatewayPlace:
    """The one place at which a gateway answers."""

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
        self._kind: tuple[DnsTransport, GatewaySettings] | None = None
        self.gateway: engine.Gateway | None = None

    async def put(self, transport: DnsTransport, settings: GatewaySettings) -> None:
        """Have a gateway of this kind there; the one that is kept has no open connection and no ticket."""
        if self.gateway is not None and self.gateway.process.running and self._kind == (transport, settings):
            await self.gateway.new_load(forget_tickets=True)
            return
        await self.close()
        self.gateway = await engine.Gateway.start(
            self._path_pid,
            f"{layout.STUB_ADDRESS}:53",
            layout.resolver(transport, self._ca_file, self._groups),
            settings,
            ca_folder=self._ca_file.parent,
            on_record=self._on_record,
            key_log_file=self._key_log_file,
        )
        self._kind = transport, settings

    async def close(self) -> None:
        """End the gateway that is there."""
        gateway, self.gateway = self.gateway, None
        if gateway is not None:
            await gateway.close()


def gateway_settings(condition: Condition) -> GatewaySettings:
    """Say what a condition asks of its gateway."""
    return GatewaySettings(
        dns_handshake=condition.requested_dns_handshake_mode,
        page_handshake=condition.requested_handshake_mode,
        page_version=condition.http_version,
        sharing=condition.connection_sharing,
    )
