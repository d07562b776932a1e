"""One process of a plan's software, and the sockets of the server's host."""

import asyncio
import sys
from pathlib import Path

import pytest

from resolab.lab.software.host import list_bound
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
