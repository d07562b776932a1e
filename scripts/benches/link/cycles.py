"""Starting and stopping the path many times.

For: the figure `cycles`. Not for: the path's behaviour meanwhile.
"""

import asyncio
import contextlib
import subprocess
import threading
import time
from pathlib import Path

from benches.common.program_end import end
from benches.link.bench import LinkBench
from benches.link.figure import LinkFigure, quantiles, verdict
from resolab.lab import engine

LIMIT_MS = 50.0
SETTLE_S = 5.0
START_LIMIT_S = 30.0
NAMESPACES = ("net", "mnt", "pid", "user")


async def cycles(bench: LinkBench) -> list[LinkFigure]:
    """Start a path, wait until ready, end the path; repeat, one path after another."""
    before = _counts()
    times = [_one(bench) for _ in range(bench.cycles)]
    after = _counts()
    deadline = time.monotonic() + SETTLE_S
    while any(after[key] > before[key] for key in before) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        after = _counts()
    left = {key: after[key] - before[key] for key in before}
    start, stop = (quantiles([one[place] * 1e3 for one in times]) for place in (0, 1))
    both = quantiles([sum(one) * 1e3 for one in times])
    measured = f"{_text(both)} (start {_text(start)}; stop {_text(stop)})"
    return [
        LinkFigure(
            f"{bench.cycles} start/stop cycles, each: p50 / p99 / max ms",
            f"{LIMIT_MS:.0f} each",
            "",
            measured,
            verdict([both[2]], [LIMIT_MS], [LIMIT_MS]),
        ),
        LinkFigure(
            f"left behind by {bench.cycles} cycles",
            "nothing",
            "",
            ", ".join(f"{key} {value:+d}" for key, value in left.items()),
            verdict([float(max(left.values()))], [0.0], [0.0]),
        ),
    ]


def _text(values: list[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def _one(bench: LinkBench) -> tuple[float, float]:
    command = [str(engine.find_core()), "path", "--profile", "ideal"]
    command += ["--backend", bench.backend.value] if bench.backend else []
    began = time.perf_counter()
    # Its standard error is ours: a pipe that nobody reads would hold up one that says much.
    path = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    silent = threading.Timer(START_LIMIT_S, path.kill)
    silent.start()
    try:
        _wait_until_ready(path)
        stands = time.perf_counter()
    finally:
        silent.cancel()
        was_polite = end(path)
    if not was_polite:
        raise SystemExit(f"the path (process {path.pid}) did not end when its standard input did")
    return stands - began, time.perf_counter() - stands


def _wait_until_ready(path: "subprocess.Popen[str]") -> None:
    assert path.stdout is not None
    while '"path_ready"' not in (line := path.stdout.readline()):
        if not line:
            raise SystemExit(f"the path (process {path.pid}) did not start within {START_LIMIT_S:g} s")


def _counts() -> dict[str, int]:
    """Count possible remains of a path: its processes by name, namespaces in use by any process, devices."""
    processes, namespaces = 0, set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            processes += (entry / "comm").read_text("utf-8").startswith("resolab-")
        for kind in NAMESPACES:
            with contextlib.suppress(OSError):
                namespaces.add((entry / "ns" / kind).readlink())
    devices = len(list(Path("/sys/class/net").iterdir()))
    return {"processes": processes, "namespaces": len(namespaces), "devices": devices}
