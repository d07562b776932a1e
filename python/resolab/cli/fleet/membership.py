"""The commands `resolab fleet invite` and `withdraw`: membership.

Not for: credentials (`resolab.extras.fleet.invitation`).
"""

import argparse
import shutil
import sys
from pathlib import Path

from nats.aio.client import Client

from resolab.basics.errors import ConfigurationError
from resolab.cli.fleet.server_connection import run_with_server
from resolab.extras.fleet.invitation import invite as make_invitation
from resolab.extras.fleet.invitation import withdraw as take_back
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.server import reload_server
from resolab.extras.fleet.server.streams import prepare_agent


def invite(options: argparse.Namespace) -> int:
    """Write an invitation; a running server prepares for the agent at once, a stopped server at its next start."""
    folder = ServerFolder.open(options.fleet)
    file = make_invitation(folder, options.vantage)
    if reload_server(folder):
        run_with_server(options.fleet, lambda client, _folder: _prepare(client, folder, options.vantage))
    if options.out is not None:
        try:
            file = Path(shutil.move(file, options.out))
        except OSError as error:
            raise ConfigurationError(f"could not write {options.out}: {error.strerror}; it is {file}") from error
    if folder.address.elsewhere:
        hint = "have it read that again, then `resolab fleet serve` makes the queue"
        print(f"{folder.url} lets {options.vantage} in once it knows {folder.config_file}: {hint}", file=sys.stderr)
    print(f"{file}: give it to {options.vantage} and nobody else; there: resolab fleet agent --invitation {file}")
    return 0


async def _prepare(client: Client, folder: ServerFolder, vantage: str) -> int:
    await prepare_agent(client.jetstream(), vantage, folder.storage().quota_bytes)
    return 0


def withdraw(options: argparse.Namespace) -> int:
    """Exclude an agent from now on."""
    folder = ServerFolder.open(options.fleet)
    take_back(folder, options.vantage)
    reload_server(folder)
    if folder.address.elsewhere:
        print(f"{folder.url} keeps {options.vantage} out once it has read {folder.config_file} again", file=sys.stderr)
    print(f"{options.vantage} takes part no more; its results stay")
    return 0
