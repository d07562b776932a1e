"""One process of a plan's software, and the sockets of the server's host."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from resolab.basics.errors import MachineError
from resolab.lab.software.host import ServerHost, list_bound
from resolab.lab.software.process import LINES_KEPT, SoftwareProcess, find_telling_line

TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 01FF4D0A:0355 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 01004D0A:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   2: 01FF4D0A:01BB 02004D0A:9C40 01 00000000:00000000 00:00000000 00000000     0        0 1 1
"""
UDP = "   1: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0\n"
UDP6 = (
    "   1: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 07 0:0 00:0 0 0 0 1 2 0 0\n"
    "   2: 00000000000000000000000000000000:9C40 00000000000000000000000000000000:0000 07 0:0 00:0 0 0 0 1 2 0 0\n"
)


def test_sockets_at_an_address_are_found_and_those_of_others_are_not() -> None:
    assert list(list_bound(TCP, "10.77.255.1")) == ["10.77.255.1:853"]
    assert list(list_bound(TCP, "10.77.255.2")) == []


def test_a_socket_of_every_address_counts_at_the_ports_of_servers() -> None:
    assert list(list_bound(UDP + UDP6, "10.77.255.1")) == ["0.0.0.0:53", ":::443"]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["starting", "error: no key", "stopping"], "error: no key"),
        (["loading", "Permission denied: key.pem", "exiting (due to fatal error)"], "exiting (due to fatal error)"),
        (["starting", "bye", ""], "bye"),
        ([], "it said nothing"),
    ],
)
def test_the_telling_line_is_the_last_about_a_failure(lines: list[str], line: str) -> None:
    assert find_telling_line(lines) == line


def test_a_long_line_is_cut() -> None:
    assert len(find_telling_line(["error " + "x" * 5000])) < 400


async def _run(program: str, folder: Path) -> SoftwareProcess:
    return await SoftwareProcess.start("fake", [sys.executable, "-I", "-c", program], folder)


def test_an_end_has_its_code_and_the_last_twenty_lines_are_kept(tmp_path: Path) -> None:
    async def use() -> tuple[str, list[str]]:
        process = await _run("import sys\nfor i in range(30): print('line', i)\nsys.exit(3)", tmp_path)
        told = await process.describe_end()
        assert process.read_memory_bytes() is None
        assert process.read_processor_time_ns() is None
        await process.close()
        return told, list(process.lines)

    told, lines = asyncio.run(use())
    assert told == "it ended with exit code 3: line 29"
    assert len(lines) == LINES_KEPT


def test_a_program_deaf_to_the_first_signal_is_ended_by_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resolab.lab.software.process.END_TIMEOUT_S", 0.2)
    program = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)"
    )

    async def use() -> None:
        process = await _run(program, tmp_path)
        while not process.lines:
            await asyncio.sleep(0.01)
        assert (process.read_processor_time_ns() or 0) > 0
        assert (process.read_memory_bytes() or 0) > 1_000_000
        await process.close()
        assert not process.running

    asyncio.run(use())


def test_the_child_of_a_program_s_thread_counts_as_a_part_of_the_program(tmp_path: Path) -> None:
    program = (
        "import subprocess, threading, time\n"
        "def start():\n    subprocess.Popen(['sleep', '60'])\n    print('up', flush=True)\n    time.sleep(60)\n"
        "threading.Thread(target=start).start()"
    )

    async def use() -> None:
        process = await _run(program, tmp_path)
        while not process.lines:
            await asyncio.sleep(0.01)
        pids = list(process._list_programs())
        os.kill(pids[-1], signal.SIGKILL)
        await process.close()
        assert len(pids) == 2

    asyncio.run(use())


def _is_running(process: Path) -> bool:
    """A dead process that nobody has reaped yet runs no more."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


PARENT = """
import ctypes, subprocess, sys, time
die_with_parent = lambda: ctypes.CDLL(None).prctl(1, 9)
print(subprocess.Popen(sys.argv[1:], preexec_fn=die_with_parent).pid, flush=True)
time.sleep(60)
"""


def test_the_program_ends_with_a_supervisor_killed_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without a process namespace: the supervisor's own order to die is lost by the change of the user."""
    monkeypatch.setattr("resolab.lab.engine.enter_prefix", lambda *_given: [])
    command = ServerHost(1, rootless=os.geteuid() != 0).run_as_user(["sleep", "60"])
    with subprocess.Popen([sys.executable, "-c", PARENT, *command], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        program = Path("/proc") / parent.stdout.readline().strip()
        while "sleep" not in (program / "comm").read_text():
            time.sleep(0.01)
        parent.kill()
    deadline = time.monotonic() + 5
    while (is_left := _is_running(program)) and time.monotonic() < deadline:
        time.sleep(0.01)
    if is_left:
        os.kill(int(program.name), signal.SIGKILL)
    assert not is_left


def test_a_machine_without_the_user_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resolab.lab.software.host.USER", "no-such-user-here")
    with pytest.raises(
        MachineError, match="could not run software as user no-such-user-here: this machine has no such"
    ):
        ServerHost(1, rootless=False).run_as_user(["sleep"])
