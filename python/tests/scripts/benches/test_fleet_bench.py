"""The fleet's benchmark: that it would see a lost or doubled block, and that its faults are faults."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benches.fleet import light, overhead
from benches.fleet.clock import Clock, build_library
from benches.fleet.overhead import Overhead, line
from benches.fleet.relay import Relay
from benches.fleet.verdict import problems
from resolab.campaign.blocks.one_block import run_block
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.results import bundle
from resolab.extras.fleet.results.assemble import assemble
from resolab.extras.fleet.results.fetch import FetchResult
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.store import find_finished_trials

BLOCKS = 2


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[FleetRun, FetchResult, Path]:
    """Make a whole dataset of two vantage points with light trials."""
    for module in (light.manifests, light.provenance):
        for name, value in list(vars(module).items()):
            monkeypatch.setattr(module, name, value)
    light.stub_versions()
    run = light.light_run("r", ["fra", "syd"], BLOCKS, 3)
    files: dict[str, dict[int, Path]] = {}
    for vantage in run.vantages:
        folder = tmp_path / vantage
        for block in range(BLOCKS):
            plan = read_vantage_plan(run, vantage)
            run_block(plan, folder, Console(quiet=True), block, light.light_testbed, fleet_run=run.id)
            files.setdefault(vantage, {})[block] = tmp_path / f"{vantage}-{block}.tar.gz"
            bundle.pack(folder, block, files[vantage][block])
    manifest = assemble(run, files, tmp_path / "out")
    return run, FetchResult(manifest, dict.fromkeys(run.vantages, BLOCKS), []), tmp_path / "out"


def test_a_whole_dataset_has_no_problem(fetched: tuple[FleetRun, FetchResult, Path]) -> None:
    assert problems(*fetched) == []


def test_a_trial_that_is_not_there_is_seen(fetched: tuple[FleetRun, FetchResult, Path]) -> None:
    run, what, dataset = fetched
    next(iter(find_finished_trials(dataset).values())).unlink()
    found = problems(run, what, dataset)
    assert found[0] == "7 trials"
    assert found[1].startswith("fra: block 0, trial 0, example.fiber.")
    assert found[1].endswith("is there 0 times, not 1")


def test_a_block_done_twice_is_seen(fetched: tuple[FleetRun, FetchResult, Path]) -> None:
    run, what, dataset = fetched
    first, *_, last = find_finished_trials(dataset).values()
    last.write_bytes(first.read_bytes().replace(first.stem.encode(), last.stem.encode()))
    assert any("is there 2 times, not 1" in one for one in problems(run, what, dataset))


def test_uneven_and_refused_blocks_are_seen(fetched: tuple[FleetRun, FetchResult, Path]) -> None:
    run, what, dataset = fetched
    uneven = FetchResult(what.manifest, {"fra": 2, "syd": 1}, ["syd, block 1: forged"])
    assert problems(run, uneven, dataset) == ["syd, block 1: forged", "blocks by vantage point: {'syd': 1}, not 2"]


def test_nothing_comes_through_a_link_that_is_cut_and_all_afterwards() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while content := await reader.read(100):
            writer.write(content)
        writer.close()

    async def go() -> None:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        link = Relay(server.sockets[0].getsockname()[1])
        await link.begin()
        reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
        writer.write(b"one")
        assert await reader.readexactly(3) == b"one"
        link.cut()
        writer.write(b"two")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(3), 0.3)
        link.mend()
        # What was begun before is over; what begins now is served.
        assert await reader.read(3) == b""
        again, back = await asyncio.open_connection("127.0.0.1", link.port)
        back.write(b"three")
        assert await again.readexactly(5) == b"three"
        back.close()
        writer.close()
        await link.end()
        server.close()

    asyncio.run(asyncio.wait_for(go(), 60))


def test_a_clock_can_be_put_off_while_a_process_runs(tmp_path: Path) -> None:
    clock = Clock(build_library(tmp_path), tmp_path / "clock")
    said = "import sys, time, datetime\nfor _ in sys.stdin: print(time.time(), time.monotonic(), flush=True)"
    pipe: Any = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", said], stdin=pipe, stdout=pipe, text=True, env=os.environ | clock.environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        off = []
        for seconds in (0, 600, -600, 0):
            clock.set(seconds)
            process.stdin.write("\n")
            process.stdin.flush()
            wall, monotonic = map(float, process.stdout.readline().split())
            off.append(round((wall - time.time()) / 60))
            assert abs(monotonic - time.monotonic()) < 60
        process.stdin.close()
    assert off == [0, 10, -10, 0]


def test_a_run_alone_and_a_fleet_take_turns_in_going_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    went: list[str] = []

    def pretended(way: str, seconds: float) -> Callable[[Path, Path, int], float]:
        def run(_home: Path, _plan: Path, number: int) -> float:
            went.append(f"{way} {number}")
            return seconds

        return run

    monkeypatch.setattr(overhead, "_run_beside", lambda *_, **__: contextlib.nullcontext())
    monkeypatch.setattr(overhead, "_resolab", lambda *_: "")
    monkeypatch.setattr(overhead, "_alone_s", pretended("alone", 4.0))
    monkeypatch.setattr(overhead, "_fleet_s", pretended("fleet", 6.0))
    found = overhead.measure(tmp_path / "overhead", rounds=3, blocks=2)
    assert went == ["alone 0", "fleet 0", "fleet 1", "alone 1", "alone 2", "fleet 2"]
    assert (found.alone_s, found.fleet_s) == ([2.0] * 3, [3.0] * 3)


def test_what_a_fleet_adds_is_said_with_a_verdict() -> None:
    assert line(Overhead([4.0, 5.0, 6.0], [4.5, 6.0, 6.2])).endswith(
        "adds +0.50 s (median of 3 rounds, at most 2): met"
    )
    assert line(Overhead([4.0], [7.0])).endswith("MISSED")
