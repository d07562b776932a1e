"""`resolab fleet invite` and `withdraw`: who takes part. Not for: credentials (`resolab.fleet.invitation`)."""

import argparse
import asyncio
import shutil
from pathlib import Path

from resolab.errors import ConfigurationError, UsageError
from resolab.fleet.connection import connect_operator
from resolab.fleet.invitation import invite as make_invitation
from resolab.fleet.invitation import withdraw as take_back
from resolab.fleet.job import check_vantage
from resolab.fleet.server import reload_server
from resolab.fleet.server_folder import ServerFolder
from resolab.fleet.streams import prepare_agent


def invite(options: argparse.Namespace) -> int:
    """Write an invitation, and make what its agent needs on the server."""
    _check(options.vantage)
    folder = ServerFolder.open(options.fleet)
    file = make_invitation(folder, options.vantage)
    reload_server(folder)
    asyncio.run(_prepare(folder, options.vantage))
    if options.out is not None:
        try:
            file = Path(shutil.move(file, options.out))
        except OSError as error:
            raise ConfigurationError(f"could not write {options.out}: {error.strerror}; it is {file}") from error
    print(f"{file}: give it to {options.vantage} and nobody else; there: resolab fleet agent --invitation {file}")
    return 0


def withdraw(options: argparse.Namespace) -> int:
    """Let an agent take part no more."""
    _check(options.vantage)
    folder = ServerFolder.open(options.fleet)
    take_back(folder, options.vantage)
    reload_server(folder)
    print(f"{options.vantage} takes part no more; its results stay")
    return 0


def _check(vantage: str) -> None:
    try:
        check_vantage(vantage)
    except ValueError as error:
        raise UsageError(f"fleet: {error}") from error


async def _prepare(folder: ServerFolder, vantage: str) -> None:
    client = await connect_operator(folder, lambda _problem: None)
    try:
        await prepare_agent(client.jetstream(), vantage)
    finally:
        await client.close()
