"""A connection to the fleet's server during an operator's command.

For: the common part of an operator's commands. Not for: the commands' work.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from nats.aio.client import Client

from resolab.basics.errors import MachineError
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.transfer import UnreachableError


def run_with_server(folder: Path, do: Callable[[Client, ServerFolder], Awaitable[int]]) -> int:
    """Run `do` with a connection to the server of a fleet's folder; return the exit code."""

    async def connected() -> int:
        server_folder = ServerFolder.open(folder)
        client = await connect_operator(server_folder, lambda _problem: None)
        try:
            return await do(client, server_folder)
        except UnreachableError as error:
            raise MachineError(f"{error}; is `resolab fleet serve` running?") from error
        finally:
            await client.close()

    return asyncio.run(connected())
