"""Renderers of a browser, found and ended from outside it."""

import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from resolab.browser.chromium.renderers import end_renderers, renderers_of

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
    until(lambda: len(renderers_of(browser_pid)) == 2)
    spared, ended = sorted(renderers_of(browser_pid))
    end_renderers(browser_pid, frozenset([spared]))
    until(lambda: ended not in renderers_of(browser_pid))
    children = subprocess.run(["pgrep", "-P", str(browser_pid)], capture_output=True, text=True, check=True).stdout
    assert len(children.split()) == 2  # The other renderer, and what is none.
    assert renderers_of(browser_pid) == {spared}


def test_of_a_browser_that_is_gone_there_are_none() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert not renderers_of(process.pid)
    end_renderers(process.pid, frozenset())
