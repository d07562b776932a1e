"""The gateway as a Python object: started, told of each new load, ended.

For: its command line and its one command. Not for: when a load is new (`testbed`), the other programs (`programs`).
"""

from pathlib import Path as FilePath
from typing import Self

import msgspec

from resolab.engine.process import CoreProcess
from resolab.engine.programs import START_TIMEOUT_S, OnRecord, Resolver, enter_prefix, measured_environment
from resolab.installation import find_core
from resolab.records import (
    ConnectionSharing,
    GatewayNewLoad,
    GatewayReadyRecord,
    GatewayTrigger,
    HandshakeMode,
    HttpVersion,
)

NEW_LOAD_TIMEOUT_S = 30.0
"""Legs may take 5 s to end, then look-ups under way 10 s, then what closes connections 5 s: 20 s at most, unless more
of the load before comes meanwhile."""


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed when a gateway starts, but for how it asks its resolver."""

    page_handshake: HandshakeMode
    page_version: HttpVersion
    sharing: ConnectionSharing
    trigger: GatewayTrigger = GatewayTrigger.MIRROR

    def arguments(self) -> list[str]:
        """Say it on a command line."""
        return [
            *("--page-handshake", self.page_handshake.value, "--page-http", self.page_version.value),
            *("--sharing", self.sharing.value, "--trigger", self.trigger.value),
        ]


class Gateway:
    """The gateway, in the path's client host."""

    def __init__(self, process: CoreProcess, ready: GatewayReadyRecord) -> None:
        self.process, self.ready = process, ready

    @classmethod
    async def start(
        cls,
        path_pid: int,
        listen: str,
        resolver: Resolver,
        settings: GatewaySettings,
        *,
        handshake: HandshakeMode,
        ca_folder: FilePath,
        on_record: OnRecord,
        key_log_file: FilePath | None = None,
    ) -> Self:
        """Start it and wait until it answers; browsers must trust the authority in the folder."""
        command = [*enter_prefix(path_pid, "client"), str(find_core()), "gateway", "--listen", listen]
        command += ["--upstream", resolver.url, "--handshake", handshake.value, *resolver.arguments()]
        command += ["--ca-folder", str(ca_folder), "--claim-range", *settings.arguments()]
        environment = measured_environment(key_log_file)
        process = await CoreProcess.start("the gateway", command, on_record, environment=environment)
        try:
            return cls(process, await process.first(GatewayReadyRecord, START_TIMEOUT_S))
        except BaseException:
            await process.close()
            raise

    async def new_load(self, *, forget_tickets: bool, speculate_for: str | None = None) -> None:
        """Close all its connections, so that the next load is cold; it may ask for a host's document early."""
        await self.process.command(
            lambda number: GatewayNewLoad(id=number, forget_tickets=forget_tickets, speculate_for=speculate_for),
            NEW_LOAD_TIMEOUT_S,
        )

    async def close(self) -> None:
        """Stop it and wait until it has ended."""
        await self.process.close()
