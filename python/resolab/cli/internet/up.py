"""`resolab internet up` and `run`: a box until stopped, or until the end of a command.

For: the messages for people meanwhile. Not for: the box itself (`resolab.extras.internet`).
"""

import argparse
import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator

from resolab.basics.errors import UsageError
from resolab.cli.internet import show
from resolab.extras.internet import Box, box_folder, compose, new_folder_below, run_at_home
from resolab.extras.internet.contact_check import count_from_now
from resolab.extras.internet.home import account
from resolab.extras.internet.places import find_vantage_point
from resolab.extras.internet.sites import PAGES


@contextlib.asynccontextmanager
async def a_box(options: argparse.Namespace) -> AsyncIterator[Box]:
    """Start the box described by the arguments."""
    kept = options.folder if options.boxes is None else new_folder_below(options.boxes)
    with box_folder(kept) as folder:
        layout = compose(folder / "opt-out", options.page or PAGES, options.place)
        async with Box(layout, folder, seed=options.seed, keep_awake=options.keep_awake) as box:
            await count_from_now(box)
            yield box


def up(options: argparse.Namespace) -> int:
    """Start the box, print its content, and wait for an end."""
    return asyncio.run(_up(options))


async def _up(options: argparse.Namespace) -> int:
    began = time.monotonic()
    async with a_box(options) as box:
        if options.json:
            show.print_json(show.describe_layout(box.layout) | {"pid": box.pid, "folder": str(box.folder)})
        else:
            show.print_layout(box.layout)
            print(f"\nup after {time.monotonic() - began:.1f} s; its folder is {box.folder}")
            print(f"inside: resolab-core enter --path {box.pid} --host home --nameserver {box.near_address} -- PROGRAM")
            print(f"        with RESOLAB_AUTHORITY={box.authority_file}; Ctrl-C ends it", flush=True)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        await box.wait_until(ended)
    return 0


def run(options: argparse.Namespace) -> int:
    """Run a command at home."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("internet run needs a command: resolab internet run -- COMMAND")
    if options.as_user is not None:
        account(options.as_user)
    if options.place is not None:
        find_vantage_point(options.place)
    return asyncio.run(_run(options, command))


async def _run(options: argparse.Namespace, command: list[str]) -> int:
    async with a_box(options) as box:
        return await run_at_home(box, command, as_user=options.as_user)
