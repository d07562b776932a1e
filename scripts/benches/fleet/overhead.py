"""A fleet's extra time per block: the same plan by `resolab run` and by a fleet of one, in turn, with real browsers.

For: the row of docs/benchmarks.md. Not for: light trials (`scale`).
"""

import contextlib
import json
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benches.common import turns
from benches.common.program_end import end
from benches.fleet.light import PLAN
from resolab.basics.errors import MachineError

RESOLAB = (sys.executable, "-m", "resolab")
LIMIT_S = 1800.0
MOST_S = 2.0
"""The limit of a fleet's extra time per block."""
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Overhead:
    """The seconds per block of each round."""

    alone_s: list[float]
    fleet_s: list[float]

    @property
    def median_s(self) -> float:
        """The fleet's extra time per block, from the rounds' differences."""
        return statistics.median(fleet - alone for alone, fleet in zip(self.alone_s, self.fleet_s, strict=True))


def measure(home: Path, rounds: int, blocks: int) -> Overhead:
    """Run both in turn, the order reversed every other round."""
    home.mkdir(parents=True)
    plan = home / "light.toml"
    plan.write_text(PLAN.format(blocks=blocks), "utf-8")
    found = Overhead([], [])
    with _run_beside(
        "fleet", "serve", "--fleet", home / "fleet", "--port", 0, log=home / "serve.log", says="serving at"
    ):
        _resolab("fleet", "invite", "one", "--fleet", home / "fleet")
        ways = ((found.alone_s, _alone_s), (found.fleet_s, _fleet_s))
        for number in range(rounds):
            for seconds, run in turns.order_arms(ways, number):
                seconds.append(run(home, plan, number) / blocks)
            print(f"round {number}: alone {found.alone_s[-1]:.2f}, fleet {found.fleet_s[-1]:.2f} s a block", flush=True)
    return found


def line(found: Overhead) -> str:
    """Write the result as a line."""
    verdict = "met" if found.median_s <= MOST_S else "MISSED"
    alone, fleet = statistics.median(found.alone_s), statistics.median(found.fleet_s)
    return (
        f"a block takes {alone:.2f} s alone, {fleet:.2f} s in a fleet of one; the fleet adds {found.median_s:+.2f} s "
        f"(median of {len(found.alone_s)} rounds, at most {MOST_S:g}): {verdict}"
    )


def _alone_s(home: Path, plan: Path, number: int) -> float:
    began = time.monotonic()
    _resolab("run", plan, "--vantage", "one", "--out", home / f"alone{number}")
    return time.monotonic() - began


def _fleet_s(home: Path, plan: Path, number: int) -> float:
    # An agent whose worker stands from the round before would be ahead of a run that starts all.
    agent = ("fleet", "agent", "--invitation", home / "fleet" / "one.invitation.toml", "--spool", home / "spool")
    with _run_beside(*agent, log=home / f"agent{number}.log", says="takes part"):
        return _time_until_last_block_s(home, plan)


def _time_until_last_block_s(home: Path, plan: Path) -> float:
    """Time a run from its start until the server has its last block."""
    began = time.monotonic()
    _resolab("fleet", "run", plan, "--fleet", home / "fleet")
    said = _resolab("fleet", "status", "--wait", "--json", "--fleet", home / "fleet")
    seconds = time.monotonic() - began
    (place,) = [json.loads(one) for one in said.splitlines()]
    if place["blocks_done_count"] != place["blocks_count"]:
        raise MachineError(f"the fleet of one did not do all its blocks: {said}")
    return seconds


def _resolab(*words: object) -> str:
    ended = subprocess.run(
        [*RESOLAB, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if ended.returncode:
        raise MachineError(f"resolab {words[0]} ended with code {ended.returncode}: {ended.stderr.strip()[-500:]}")
    return ended.stdout


@contextlib.contextmanager
def _run_beside(*words: object, log: Path, says: str) -> Iterator[None]:
    """Run a command beside others until no longer needed."""
    with log.open("wb") as stream:
        process = subprocess.Popen([*RESOLAB, *map(str, words)], stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
    try:
        deadline = time.monotonic() + LIMIT_S
        while says not in log.read_text("utf-8", errors="replace"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise MachineError(f"resolab {words[0]} {words[1]} did not start; see {log}")
            time.sleep(POLL_S)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        end(process)
