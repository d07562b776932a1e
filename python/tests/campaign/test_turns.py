"""Trials are handed out in their order, and no block begins before the one before it has ended."""

import asyncio
from collections.abc import Callable

from resolab.campaign.schedule import PlannedTrial, schedule
from resolab.campaign.turns import TrialDispatcher
from resolab.plan import load_plan
from resolab.plan.corpus import PROJECT_ROOT

PLAN = load_plan(PROJECT_ROOT / "plans" / "quick.toml")
SIZE = len(PLAN.conditions())


def turns_of(left: list[PlannedTrial], is_over: Callable[[], bool] = lambda: False) -> TrialDispatcher:
    return TrialDispatcher(left, is_over)


async def taken(turns: TrialDispatcher, count: int) -> list[PlannedTrial]:
    trials = [await turns.next() for _ in range(count)]
    assert None not in trials
    return [trial for trial in trials if trial is not None]


def test_the_next_block_waits_for_the_last_trial_in_flight() -> None:
    async def scene() -> None:
        planned = schedule(PLAN, 1, 2)
        turns = turns_of(planned.copy())
        block = await taken(turns, SIZE)
        assert block == planned[:SIZE]
        waiting = asyncio.create_task(turns.next())
        for trial in block[1:]:
            assert not turns.done(trial)
            await asyncio.sleep(0)
            assert not waiting.done()
        assert turns.done(block[0])
        assert await waiting == planned[SIZE]

    asyncio.run(scene())


def test_a_trial_given_back_is_the_next_one_again() -> None:
    async def scene() -> None:
        left = schedule(PLAN, 1, 1)
        planned = left.copy()
        turns = turns_of(left)
        first, second, third = await taken(turns, 3)
        turns.give_back(second)
        turns.give_back(first)
        assert left == [trial for trial in planned if trial != third]
        assert await turns.next() == first

    asyncio.run(scene())


def test_a_trial_given_back_wakes_who_waits_for_the_next_block() -> None:
    async def scene() -> None:
        turns = turns_of(schedule(PLAN, 1, 2))
        block = await taken(turns, SIZE)
        for trial in block[1:]:
            turns.done(trial)
        waiting = asyncio.create_task(turns.next())
        await asyncio.sleep(0)
        turns.give_back(block[0])
        assert await waiting == block[0]

    asyncio.run(scene())


def test_an_end_and_a_stop_hand_out_nothing_more() -> None:
    async def scene() -> None:
        over: list[bool] = []
        left = schedule(PLAN, 1, 2)
        turns = turns_of(left, lambda: bool(over))
        block = await taken(turns, SIZE)
        waiting = asyncio.create_task(turns.next())
        await asyncio.sleep(0)
        turns.end()
        assert await waiting is None
        assert await turns.next() is None
        stopped = turns_of(left, lambda: bool(over))
        trial = (await taken(stopped, 1))[0]
        over.append(True)
        assert await stopped.next() is None
        assert trial.block == block[0].block + 1

    asyncio.run(scene())


def test_the_last_trial_of_all_ends_its_block() -> None:
    async def scene() -> None:
        turns = turns_of(schedule(PLAN, 1, 1))
        block = await taken(turns, SIZE)
        assert [turns.done(trial) for trial in reversed(block)] == [False] * (SIZE - 1) + [True]
        assert await turns.next() is None

    asyncio.run(scene())
