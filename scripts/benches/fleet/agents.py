"""A process with agents in it: `python -m benches.fleet.agents --spools FOLDER INVITATION...`.

For: agents like those of `resolab fleet agent`, with light trials; a single agent per process, or hundreds. Not for:
disturbing agents (`faults`).
"""

import argparse
import asyncio
import contextlib
import io
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
from rich.console import Console

from benches.fleet import light
from resolab.basics.errors import ResolabError
from resolab.campaign.blocks.one_block import carry_out_block
from resolab.campaign.blocks.testbed_pool import TestbedPool
from resolab.extras.fleet.agent.agent import Agent, AgentSetup
from resolab.extras.fleet.agent.limits import AgentLimits
from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.agent.worker_process import BlockTimeLimit, WorkerProblem, WorkerProcess
from resolab.extras.fleet.connection import connect_agent
from resolab.extras.fleet.invitation import Invitation, read_invitation
from resolab.extras.fleet.job import FleetRun, Job, decode
from resolab.extras.fleet.transfer import AgentClient
from resolab.extras.fleet.vantage_run import read_vantage_plan


class InProcessWorker(WorkerProcess):
    """A worker running blocks in this process, for hundreds of agents per process."""

    def __init__(self, spool: Spool) -> None:
        super().__init__(spool.folder, spool.folder / "log")
        self._place = spool
        self._testbeds = TestbedPool(light.light_testbed)

    async def run(self, job: Job, run_file: Path, patience: BlockTimeLimit) -> WorkerProblem | None:  # noqa: ARG002 -- a block here ends.
        """Run a block of the job."""
        run = _read(run_file)
        try:
            await carry_out_block(
                read_vantage_plan(run, job.vantage),
                self._place.dataset(run.id),
                Console(file=io.StringIO()),
                job.block,
                self._testbeds,
                fleet_run=run.id,
            )
        except ResolabError as error:
            return WorkerProblem("instrument", str(error))
        return None

    async def end(self) -> None:
        """Close the running testbeds."""
        await self._testbeds.close()


def _read(file: Path) -> FleetRun:
    return decode(file.read_bytes(), FleetRun, what="a run")


def main() -> int:
    """Take part in the fleet until SIGTERM."""
    light.stub_versions()
    return asyncio.run(_take_part(_options()))


async def _take_part(options: argparse.Namespace) -> int:
    agents = await asyncio.gather(*(_agent(options, one) for one in options.invitations))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _stop_all, agents)
    await asyncio.gather(*(_run_until_stopped(one) for one in agents))
    return 0


def _stop_all(agents: Iterable[Agent]) -> None:
    for one in agents:
        one.stop()


async def _run_until_stopped(agent: Agent) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await agent.run()


async def _agent(options: argparse.Namespace, file: Path) -> Agent:
    invitation = _redirect_invitation(read_invitation(file), options.port)
    vantage = invitation.vantage
    spool = Spool(options.spools / vantage)

    def say(line: str) -> None:
        print(f"{time.monotonic():.1f} {vantage} {line}", file=sys.stderr, flush=True)

    client = await connect_agent(invitation, say, wait=True)
    command = (sys.executable, "-m", "benches.fleet.light", str(options.trial_s))
    worker = InProcessWorker(spool) if options.here else WorkerProcess(spool.folder, spool.folder / "log", command)
    place = AgentSetup(vantage, AgentLimits(), light.make_run_start, {"resolab": "light"})
    return Agent(AgentClient(client, vantage), place, spool, worker, say)


def _redirect_invitation(invitation: Invitation, port: int | None) -> Invitation:
    """Return the invitation with the URL of the agent's link to the server."""
    return invitation if port is None else msgspec.structs.replace(invitation, url=f"tls://127.0.0.1:{port}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("invitations", type=Path, nargs="+", metavar="INVITATION")
    parser.add_argument("--spools", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--port", type=int, help="of the link to the server")
    parser.add_argument("--trial-s", type=float, default=0.0, metavar="S", help="length of a trial")
    parser.add_argument("--here", action="store_true", help="run blocks in this process")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
