"""One load at a time, whichever process it is of; and what a turn does with caps, refusals and counts."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from resolab.plan.manners import Caps, ContactRefusal, Ledger, OptOut, StopReason, StopSign, Turn, my_turn, pause

T0 = 1_790_000_000.0
CAPS = Caps(
    loads_per_site_per_hour=2,
    loads_per_site_per_day=9,
    loads_per_hour=9,
    queries_per_resolver_per_second=10,
    queries_per_resolver_per_hour=600,
)
HOLD = """
import asyncio, sys
from pathlib import Path
from resolab.plan.manners import HARD_CAPS, Ledger, my_turn

async def hold():
    ledger = Ledger.open(Path(sys.argv[1]), HARD_CAPS, run="other", now_s=0.0)
    async with my_turn(ledger, site="other.test"):
        print("mine", flush=True)
        sys.stdin.readline()

asyncio.run(hold())
"""


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now_s, self.slept_s = T0, 0.0

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.slept_s += seconds
        await asyncio.sleep(0)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path, CAPS, run="one", now_s=T0)


async def turn(ledger: Ledger, clock: Clock, site: str = "a.test", resolver: str = "9.9.9.9", asked: int = 10) -> Turn:
    async with my_turn(ledger, site=site, resolver=resolver, clock=clock, sleep=clock.sleep) as mine:
        mine.settle(asked)
        return mine


def test_a_turn_waits_for_the_caps_and_says_so(ledger: Ledger) -> None:
    async def scene() -> None:
        clock, told = Clock(), []
        for _ in range(2):
            assert (await turn(ledger, clock)).waited_s == 0
        async with my_turn(ledger, site="a.test", clock=clock, sleep=clock.sleep, on_wait=told.append) as mine:
            assert mine.waited_s == pytest.approx(3_600)
        assert told[0] == pytest.approx(3_600)

    asyncio.run(scene())


def test_a_refusal_comes_in_the_place_of_a_turn_and_counts_nothing(ledger: Ledger) -> None:
    async def scene() -> None:
        clock = Clock()
        ledger.opt_out = OptOut.read("a.test", source="list")
        for _ in range(5):
            assert (await turn(ledger, clock)).refusal is not None
        ledger.opt_out = OptOut()
        assert ledger.wait_s(T0, site="a.test", resolver="9.9.9.9", queries_count=600) == 0

    asyncio.run(scene())


def test_a_stop_sign_that_comes_while_waiting_is_obeyed(ledger: Ledger, tmp_path: Path) -> None:
    other = Ledger.open(tmp_path, CAPS, run="other", now_s=T0)

    async def scene() -> None:
        clock = Clock()
        for _ in range(2):
            await turn(ledger, clock)

        def stop(_wait_s: float) -> None:
            sign = StopSign(reason=StopReason.FORBIDDEN, site="a.test", until_s=T0 + 9_999)
            other.note_stop(clock(), sign)

        async with my_turn(ledger, site="a.test", clock=clock, sleep=clock.sleep, on_wait=stop) as mine:
            assert isinstance(mine.refusal, ContactRefusal)

    asyncio.run(scene())


def test_turns_of_one_process_do_not_overlap(ledger: Ledger, tmp_path: Path) -> None:
    under_way = most = 0

    async def one(site: str) -> None:
        nonlocal under_way, most
        mine = Ledger.open(tmp_path, CAPS, run=site, now_s=T0)
        async with my_turn(mine, site=site):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.01)
            under_way -= 1

    async def scene() -> None:
        await asyncio.gather(*(one(f"site{number}.test") for number in range(4)))

    asyncio.run(scene())
    assert most == 1


def test_turns_of_two_processes_do_not_overlap_and_end_with_them(ledger: Ledger, tmp_path: Path) -> None:
    async def scene(holder: subprocess.Popen[str]) -> None:
        waiting = asyncio.create_task(turn(ledger, Clock()))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 0.3)
        holder.kill()
        assert (await asyncio.wait_for(waiting, 10)).refusal is None
        assert ledger.wait_s(T0, site="other.test") == 0

    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        try:
            asyncio.run(scene(holder))
        finally:
            holder.kill()


def test_paced_queries_wait_for_each_other(ledger: Ledger) -> None:
    async def scene() -> None:
        clock = Clock()
        for _ in range(3):
            noted = await pause(ledger, resolver="9.9.9.9", queries_count=20, clock=clock, sleep=clock.sleep)
            assert not isinstance(noted, ContactRefusal)
        assert clock.slept_s == pytest.approx(4.0, abs=0.1)
        sign = StopSign(reason=StopReason.REFUSED, resolver="9.9.9.9", until_s=T0 + 9_999)
        ledger.note_stop(clock(), sign)
        refused = await pause(ledger, resolver="9.9.9.9", queries_count=1, clock=clock, sleep=clock.sleep)
        assert isinstance(refused, ContactRefusal)

    asyncio.run(scene())
