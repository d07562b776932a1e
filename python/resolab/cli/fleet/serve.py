"""`resolab fleet serve`: run the server until stopped.

For: the messages for people meanwhile. Not for: the server itself (`resolab.extras.fleet.server.server`).
"""

import argparse
import asyncio
import signal
import sys

from resolab.basics.errors import ConfigurationError, UsageError
from resolab.basics.wording import clean
from resolab.extras.fleet.server.folder import ServerFolder, StorageLimits
from resolab.extras.fleet.server.server import FleetServer, prepare_elsewhere

DEFAULT_LISTEN, DEFAULT_PORT = "127.0.0.1", 4222
LEAST_QUOTA_GB, MOST_GB = 0.001, 1e5


def serve(options: argparse.Namespace) -> int:
    """Run the fleet's server until Ctrl-C."""
    return asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> int:
    folder = _folder(options)
    _keep_storage(options, folder)
    if folder.address.elsewhere:
        await prepare_elsewhere(folder, _say)
        _say(f"{folder.url} has what this fleet needs, {len(folder.list_invited())} invited; nothing runs here for it")
        return 0
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with FleetServer(folder, say=_say) as server:
        _say(f"serving at {server.url}; its folder is {options.fleet}; Ctrl-C ends it")
        await server.serve_until(ended)
    return 0


def _folder(options: argparse.Namespace) -> ServerFolder:
    """Open the fleet's folder with the requested changes; make the folder the first time."""
    if options.nats is not None:
        return _elsewhere(options)
    if not (options.fleet / "ca.pem").exists():
        listen = options.listen or DEFAULT_LISTEN
        port = DEFAULT_PORT if options.port is None else options.port
        return ServerFolder.create(options.fleet, listen, port, options.name or [listen])
    folder = ServerFolder.open(options.fleet)
    if options.listen or options.port is not None or options.name:
        folder = folder.change_address(options.listen, options.port, options.name)
    return folder


def _keep_storage(options: argparse.Namespace, folder: ServerFolder) -> None:
    """Store the agents' storage limits, when given."""
    storage = folder.storage()
    quota, reserve = options.quota_gb, options.reserve_gb
    for name, given, least in (("--quota-gb", quota, LEAST_QUOTA_GB), ("--reserve-gb", reserve, 0.0)):
        if given is not None and not least <= given <= MOST_GB:
            raise UsageError(f"{name} {given:g}: give a number from {least:g} to {MOST_GB:g}")
    wanted = StorageLimits(
        quota_bytes=storage.quota_bytes if quota is None else round(quota * 1e9),
        reserve_bytes=storage.reserve_bytes if reserve is None else round(reserve * 1e9),
    )
    if wanted != storage:
        folder.set_storage(wanted)


def _elsewhere(options: argparse.Namespace) -> ServerFolder:
    """Open the folder of a fleet with a server run elsewhere; make the folder the first time."""
    if options.listen or options.port is not None or options.name:
        raise ConfigurationError(
            "could not serve: --nats names a server that is there, and leaves nothing to listen on"
        )
    if not (options.fleet / "ca.pem").exists():
        return ServerFolder.create_elsewhere(options.fleet, options.nats)
    folder = ServerFolder.open(options.fleet)
    if folder.url != options.nats:
        hint = "give another --fleet folder"
        raise ConfigurationError(
            f"could not use {options.nats}: the fleet in {options.fleet} is at {folder.url}; {hint}"
        )
    return folder


def _say(line: str) -> None:
    print(clean(line), file=sys.stderr, flush=True)
