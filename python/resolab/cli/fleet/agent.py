"""`resolab fleet agent`: the agent of a vantage point, until Ctrl-C.

For: building an agent from its files and this machine. Not for: the agent's work (`resolab.extras.fleet.agent.agent`).
"""

import argparse
import asyncio
import contextlib
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import resolab
from resolab.basics.errors import UsageError
from resolab.basics.wording import clean
from resolab.extras.fleet.agent.agent import Agent, AgentSetup
from resolab.extras.fleet.agent.block_turns import BlockTurns
from resolab.extras.fleet.agent.limits import read_limits
from resolab.extras.fleet.agent.run_check import find_own_provenance
from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.agent.worker_process import WorkerProcess
from resolab.extras.fleet.connection import connect_agent
from resolab.extras.fleet.invitation import read_invitation
from resolab.extras.fleet.transfer import AgentClient


def take_part(options: argparse.Namespace) -> int:
    """Run the agent until Ctrl-C."""
    return asyncio.run(_take_part(options))


async def _take_part(options: argparse.Namespace) -> int:
    invitation = read_invitation(options.invitation)
    limits = read_limits(options.limits)
    inside = _prefix(options.inside)
    folder = options.spool or Path(f"spool-{invitation.vantage}")
    spool = Spool(folder)
    turns = None if options.turns is None else BlockTurns(options.turns)
    client = await connect_agent(invitation, _say, wait=True)
    place = AgentSetup(invitation.vantage, limits, find_own_provenance, {"resolab": resolab.__version__})
    side = AgentClient(client, invitation.vantage)
    worker = WorkerProcess(folder, folder / "log", inside=inside, turn=None if turns is None else turns.descriptor)
    agent = Agent(side, place, spool, worker, _say, turns=turns)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, agent.stop)
    _say(f"{invitation.vantage} takes part in the fleet at {invitation.url}; spool {folder}; Ctrl-C ends it")
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await agent.run()
    finally:
        await client.close()
    return 0


def _prefix(inside: str | None) -> list[str]:
    """Split the operator's prefix like a shell, but without a shell."""
    if inside is None:
        return []
    try:
        words = shlex.split(inside)
    except ValueError as error:
        raise UsageError(f"could not read --inside {inside!r}: {error}; quote it as for a shell") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--inside {inside!r} names no program of this machine; give one that runs what follows it")
    return words


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {clean(line)}", file=sys.stderr, flush=True)
