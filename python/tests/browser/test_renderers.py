"""Renderers of a browser, found and ended from outside it."""

import asyncio
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from resolab.browser.chromium import renderers
from resolab.browser.chromium.renderers import end_renderers, list_renderers

WITHIN_S = 10.0
PRETENDED = """
for name in "chrome --type=renderer --renderer-client-id=5" "chrome --type=renderer --renderer-client-id=6" "chrome --type=gpu"; do
  (exec -a "$name" sleep 60) &
done
wait
"""


@pytest.fixture
def browser_pid() -> Iterator[int]:
    # Not among its words, where the names would make a renderer of it.
    with subprocess.Popen(["bash"], stdin=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(PRETENDED)
            process.stdin.close()
            yield process.pid
        finally:
            subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_all_but_the_spared_are_ended_and_other_processes_are_not(browser_pid: int) -> None:
    until(lambda: len(list_renderers(browser_pid)) == 2)
    spared, ended = sorted(list_renderers(browser_pid))
    end_renderers(browser_pid, frozenset([spared]))
    until(lambda: ended not in list_renderers(browser_pid))
    children = subprocess.run(["pgrep", "-P", str(browser_pid)], capture_output=True, text=True, check=True).stdout
    assert len(children.split()) == 2  # The other renderer, and what is none.
    assert list_renderers(browser_pid) == {spared}


def test_of_a_browser_that_is_gone_there_are_none() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert not list_renderers(process.pid)
    end_renderers(process.pid, frozenset())


class Clock:
    """Passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def to_thread(self, work: Callable[[int], frozenset[int]], pid: int) -> frozenset[int]:
        return work(pid)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(renderers, "time", clock)
    monkeypatch.setattr(renderers, "asyncio", clock)
    return clock


def test_a_closed_tab_is_waited_for_until_none_of_its_renderers_ends_any_more(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of five end, within 20 and 40 ms, and none in the 30 ms after."""
    monkeypatch.setattr(
        renderers, "list_renderers", lambda _pid: frozenset(range(5 - (clock.now > 0.0175) - (clock.now > 0.0375)))
    )
    asyncio.run(renderers.wait_until_ended(1, frozenset(range(5))))
    assert clock.now == pytest.approx(0.04 + 0.03, abs=0.006)


def test_renderers_that_go_on_ending_are_not_waited_for_without_a_limit(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderers, "list_renderers", lambda _pid: frozenset(range(1000 - round(clock.now * 100))))
    asyncio.run(renderers.wait_until_ended(1, frozenset(range(1000))))
    assert clock.now == pytest.approx(1.0, abs=0.006)
