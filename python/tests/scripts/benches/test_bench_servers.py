"""What a benchmark starts beside itself is there when it is asked, and gone however the benchmark ends."""

import signal
import sys
import time
from pathlib import Path

import pytest

from benches.common import program_end, servers
from resolab.basics.errors import MachineError

SAYS = "import os, pathlib, sys, time; pathlib.Path({file!r}).write_text(str(os.getpid())); "
READY = "print('{\"ready\": 1}', flush=True); "
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(20)"
"""It hears neither of the end of its standard input nor of SIGTERM."""
GOOD = "sys.stdin.read(); [print('{\"record\": %d}' % number) for number in range(5)]"


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (program_end, servers):
        monkeypatch.setattr(module, "PATIENCE_S", 0.3, raising=False)


def command(tmp_path: Path, program: str) -> list[str]:
    """A child that writes down its process id first."""
    return [sys.executable, "-c", SAYS.format(file=str(tmp_path / "pid")) + program]


def is_gone(tmp_path: Path) -> bool:
    return not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_a_server_is_asked_to_end_and_its_last_records_are_kept(tmp_path: Path) -> None:
    last: list[dict[str, int]] = []
    with servers._start(command(tmp_path, READY + GOOD), "the server", last) as (ready, pid):
        assert ready == {"ready": 1}
        assert pid == int((tmp_path / "pid").read_text())
    assert [one["record"] for one in last] == [2, 3, 4]
    assert is_gone(tmp_path)


@pytest.mark.parametrize("how", [KeyboardInterrupt, SystemExit])
def test_a_start_that_is_interrupted_leaves_nothing_running(tmp_path: Path, how: type[BaseException]) -> None:
    def interrupt(*_: object) -> None:
        if not (tmp_path / "pid").exists():  # a slow machine: not yet started
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            return
        raise how

    before = signal.signal(signal.SIGALRM, interrupt)
    began_s = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(how), servers._start(command(tmp_path, DEAF), "the server", []):
            pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert is_gone(tmp_path)
    assert time.monotonic() - began_s < 10


def test_a_server_that_says_nothing_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "START_TIMEOUT_S", 3.0, raising=False)
    began_s = time.monotonic()
    with (
        pytest.raises(MachineError, match="the server did not start: it said nothing"),
        servers._start(command(tmp_path, "time.sleep(20)"), "the server", []),
    ):
        pass
    assert is_gone(tmp_path)
    assert time.monotonic() - began_s < 10


def test_a_server_that_does_not_end_when_asked_is_made_to_and_that_is_said(tmp_path: Path) -> None:
    began_s = time.monotonic()
    with (
        pytest.raises(MachineError, match="the server did not end"),
        servers._start(command(tmp_path, READY + DEAF), "the server", []),
    ):
        pass
    assert is_gone(tmp_path)
    assert time.monotonic() - began_s < 10


def test_of_a_run_that_fails_the_failure_is_told_and_the_server_is_gone_too(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        servers._start(command(tmp_path, READY + DEAF), "the server", []),
    ):
        raise ZeroDivisionError
    assert is_gone(tmp_path)
