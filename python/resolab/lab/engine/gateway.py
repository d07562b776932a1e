"""The gateway as a Python object: start, command for a new load, end.

For: the command line and the new-load command. Not for: the decision when a load is new (`testbed`), the other programs
(`programs`).
"""

from pathlib import Path as FilePath
from typing import Self

import msgspec

from resolab.basics.installation import find_core
from resolab.basics.records import (
    ConnectionSharing,
    GatewayNewLoad,
    GatewayReadyRecord,
    GatewayTrigger,
    HandshakeMode,
    HttpVersion,
)
from resolab.lab.engine.process import CoreProcess
from resolab.lab.engine.programs import START_TIMEOUT_S, OnRecord, ResolverTarget, build_environment, enter_prefix

NEW_LOAD_TIMEOUT_S = 30.0
"""The time limit of the new-load command, in s. Legs may take 5 s to end, then look-ups under way 10 s, then the
closing of connections 5 s. The sum is at most 20 s, unless further requests of the previous load arrive meanwhile."""


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway's settings fixed at the start, except the settings of queries to the resolver."""

    page_handshake: HandshakeMode
    page_version: HttpVersion
    sharing: ConnectionSharing
    trigger: GatewayTrigger = GatewayTrigger.MIRROR

    def arguments(self) -> list[str]:
        """Return the settings as command line arguments."""
        return [
            *("--page-handshake", self.page_handshake.value, "--page-http", self.page_version.value),
            *("--sharing", self.sharing.value, "--trigger", self.trigger.value),
        ]


class Gateway:
    """The gateway process, in the path's client host."""

    def __init__(self, process: CoreProcess, ready: GatewayReadyRecord) -> None:
        self.process, self.ready = process, ready

    @classmethod
    async def start(
        cls,
        path_pid: int,
        listen: str,
        resolver: ResolverTarget,
        settings: GatewaySettings,
        *,
        handshake: HandshakeMode,
        ca_folder: FilePath,
        on_record: OnRecord,
        key_log_file: FilePath | None = None,
    ) -> Self:
        """Start the gateway and wait for the ready line; browsers must trust the authority in `ca_folder`."""
        command = [*enter_prefix(path_pid, "client"), str(find_core()), "gateway", "--listen", listen]
        command += ["--upstream", resolver.url, "--handshake", handshake.value, *resolver.arguments()]
        command += ["--ca-folder", str(ca_folder), "--claim-range", *settings.arguments()]
        environment = build_environment(key_log_file)
        process = await CoreProcess.start("the gateway", command, on_record, environment=environment)
        try:
            return cls(process, await process.first(GatewayReadyRecord, START_TIMEOUT_S))
        except BaseException:
            await process.close()
            raise

    async def new_load(self, *, forget_tickets: bool, speculate_for: str | None = None) -> None:
        """Close all connections for a cold next load.

        With `speculate_for`, the gateway may request this host's document early.
        """
        await self.process.command(
            lambda number: GatewayNewLoad(id=number, forget_tickets=forget_tickets, speculate_for=speculate_for),
            NEW_LOAD_TIMEOUT_S,
        )

    async def close(self) -> None:
        """Stop the gateway and wait until the process has ended."""
        await self.process.close()
