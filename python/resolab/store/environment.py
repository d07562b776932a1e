"""The machine's state beside a run: load and processor settings.

For: quantities with possible changes during a campaign. Not for: the machine's fixed properties (`manifest.Machine`).

All values are read from /proc and /sys in under a millisecond, and are `None` when the kernel has no value.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

PROC, SYS = Path("/proc"), Path("/sys")
PATH_PROGRAM = "resolab-core"
STEAL_FIELD, GUEST_FIELD = 7, 8
"""Positions in the first line of /proc/stat (proc(5)); guests' time is in the user's already."""


class Environment(msgspec.Struct, kw_only=True, frozen=True):
    """The state at one moment; `steal_ratio` and `busy_ratio` cover the time since the process began to run trials."""

    unix_ns: int
    kernel: str
    load_average_1min: float | None = None
    load_average_5min: float | None = None
    load_average_15min: float | None = None
    runnable_tasks_count: int | None = None
    """Number of other runnable processes and threads, at this moment."""
    memory_available_bytes: int | None = None
    cpu_governors: list[str] = []
    """Each once; empty where the kernel sets no frequencies, as in most virtual machines."""
    cpu_frequency_mhz: float | None = None
    """Mean over the processors, at this moment."""
    steal_ratio: float | None = None
    """Share of processor time given to others by the host of a virtual machine."""
    busy_ratio: float | None = None
    """Share of busy processor time, of all users."""
    other_paths_count: int | None = None
    """Emulated paths of other runs on the machine; their traffic runs beside the measurement."""
    versions: dict[str, str] = {}
    """Versions of resolab-core and every browser, by name, as found by the process running trials."""


def describe_environment(
    *, versions: dict[str, str], ticks_before: Sequence[int] | None = None, proc: Path = PROC, sys: Path = SYS
) -> Environment:
    """Describe this moment; with ticks from before, also how the processors spent the time since."""
    averages = _words(proc / "loadavg")
    runnable = averages[3].partition("/")[0] if len(averages) > 3 else ""
    steal, busy = shares(ticks_before, cpu_ticks(proc))
    return Environment(
        unix_ns=time.time_ns(),
        kernel=os.uname().release,
        load_average_1min=_number(averages, 0),
        load_average_5min=_number(averages, 1),
        load_average_15min=_number(averages, 2),
        # The process that reads it is one of them.
        runnable_tasks_count=max(0, int(runnable) - 1) if runnable.isdigit() else None,
        memory_available_bytes=_memory_available(proc),
        cpu_governors=_governors(sys),
        cpu_frequency_mhz=_frequency(proc),
        steal_ratio=steal,
        busy_ratio=busy,
        other_paths_count=other_paths(proc),
        versions=versions,
    )


def cpu_ticks(proc: Path = PROC) -> tuple[int, ...] | None:
    """Time all processors have spent since they were started, by kind of work."""
    words = _words(proc / "stat")
    if not words or words[0] != "cpu":
        return None
    return tuple(int(word) for word in words[1 : words.index("cpu0")] if word.isdigit()) if "cpu0" in words else None


def shares(before: Sequence[int] | None, after: Sequence[int] | None) -> tuple[float | None, float | None]:
    """Return the stolen and the busy share of the time between two readings."""
    if before is None or after is None or len(after) <= STEAL_FIELD:
        return None, None
    spent = [late - early for early, late in zip(before, after, strict=True)][:GUEST_FIELD]
    total, idle = sum(spent), spent[3] + spent[4]
    if total <= 0:
        return None, None
    return spent[STEAL_FIELD] / total, 1 - idle / total


def _words(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError):
        return []


def _number(words: Sequence[str], position: int) -> float | None:
    try:
        return float(words[position])
    except (IndexError, ValueError):
        return None


def _memory_available(proc: Path) -> int | None:
    words = _words(proc / "meminfo")
    position = words.index("MemAvailable:") + 1 if "MemAvailable:" in words else len(words)
    kibibytes = _number(words, position)
    return None if kibibytes is None else int(kibibytes) * 1024


def _governors(sys: Path) -> list[str]:
    files = sorted(sys.glob("devices/system/cpu/cpu*/cpufreq/scaling_governor"))
    return list(dict.fromkeys(word for file in files for word in _words(file)))


def other_paths(proc: Path = PROC) -> int | None:
    """Count the emulated paths on the machine: only foreign paths, for a caller without own paths."""
    try:
        processes = [entry for entry in proc.iterdir() if entry.name.isdigit()]
    except OSError:
        return None
    return sum(_command(one)[1:2] == ["path"] for one in processes) if processes else None


def _command(process: Path) -> list[str]:
    """Return the words of resolab-core's command line; its hosts have other names, as any other program."""
    if _words(process / "comm") != [PATH_PROGRAM]:
        return []
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _frequency(proc: Path) -> float | None:
    try:
        lines = (proc / "cpuinfo").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    found = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    return sum(found) / len(found) if found else None
