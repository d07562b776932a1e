"""An internet for a measurement: its configuration, and programs in its hosts with the same end.

For: set-up and clean-up. Not for: any figure.
"""

import asyncio
import contextlib
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolab.basics.errors import ResolabError
from resolab.lab.engine.internet import Internet
from resolab.lab.engine.programs import enter_prefix

TIMEOUT_S = 60.0
LINE_LIMIT_BYTES = 1 << 22
"""The limit of a line: all answers of a client are one line."""
STEP_MS = 1.3
"""The extra one-way delay of each host over the host before."""


@dataclass(frozen=True)
class Host:
    """A host of the measured internet."""

    name: str
    address: str
    one_way_ms: float


def hosts(count: int) -> list[Host]:
    """Return hosts at different distances; the first is the client."""
    return [Host(f"host-{place}", f"198.18.0.{place + 1}", 2.0 + STEP_MS * place) for place in range(count)]


class RunningInternet:
    """An internet with the agents in its hosts."""

    def __init__(self, internet: Internet) -> None:
        self.internet = internet
        self._agents: list[asyncio.subprocess.Process] = []

    async def start(self, host: Host, *words: str) -> asyncio.subprocess.Process:
        """Start an agent in a host, with its output in a pipe."""
        command = [*enter_prefix(self.internet.ready.pid, host.name), sys.executable]
        command += ["-m", "benches.internet.agents", *words]
        agent = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, limit=LINE_LIMIT_BYTES)
        self._agents.append(agent)
        return agent

    async def run(self, host: Host, *words: str) -> Any:
        """Run an agent to its end; return its output."""
        agent = await self.start(host, *words)
        answer = await read_answer(agent)
        await asyncio.wait_for(agent.wait(), TIMEOUT_S)
        return answer

    async def end_agents(self) -> None:
        """End all agents still running in the hosts."""
        for agent in self._agents:
            if agent.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    agent.kill()
            await agent.wait()


async def read_answer(agent: asyncio.subprocess.Process) -> Any:
    """Wait for the next line of an agent."""
    if agent.stdout is None:
        raise ResolabError("an agent has no output")
    line = await asyncio.wait_for(agent.stdout.readline(), TIMEOUT_S)
    if not line:
        raise ResolabError("an agent inside a host ended before it said anything")
    return json.loads(line)


@contextlib.asynccontextmanager
async def run_internet(those: list[Host], *, keep_awake: bool) -> AsyncIterator[RunningInternet]:
    """Make an internet of these hosts, and end the internet with all its programs."""
    tables = [
        f'[[host]]\nname = "{host.name}"\none_way_ms = {host.one_way_ms}\n'
        f'[[host.network]]\nprefix = "{host.address}/32"\n'
        for host in those
    ]
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as folder:
        file = Path(folder) / "internet.toml"
        file.write_text("\n".join(tables), "utf-8")
        made = RunningInternet(await Internet.start(file, keep_awake=keep_awake))
        try:
            yield made
        finally:
            await made.end_agents()
            await made.internet.close()
