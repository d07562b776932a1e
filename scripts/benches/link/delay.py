"""Delay error one way: receiving kernel's stamp minus sender's user-space stamp minus the configured delay.

For: the figures `delay` (root, busy machine) and `delay-rootless`. Not for: lateness as measured by the path.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benches.link.bench import LinkBench, busy_loops, run_path
from benches.link.figure import LinkFigure, make_placeholder, quantiles, verdict
from resolab.basics.records import LinkDirection
from resolab.lab import engine

DELAYS_MS = (0.0, 7.4, 26.65, 46.0, 75.0)
PROBES_COUNT, PROBES_PER_S = 1_200, 500
TUN_DEVICE = Path("/dev/net/tun")
NO_RIGHTS = ("not permitted", "ermission denied")
"""The texts in error messages when an ordinary user may not make a path on this machine."""
NOBODY = 65_534
LIMITS_US = {"busy": ([50.0, 200.0], [30.0, 100.0]), "rootless": ([60.0, 400.0], [40.0, 200.0])}


async def busy_as_root(bench: LinkBench) -> list[LinkFigure]:
    """Measure with two busy loops in the background."""
    if os.geteuid() != 0:
        return [make_placeholder("delay, root, two busy loops", "not root")]
    with busy_loops(2):
        return await _both(bench, "delay error, root, two busy loops", *LIMITS_US["busy"], rootless_wanted=False)


async def rootless(bench: LinkBench) -> list[LinkFigure]:
    """Measure as an ordinary user on an otherwise idle machine; root becomes `nobody` in a separate process."""
    name = "delay error, rootless, idle machine"
    if os.geteuid() != 0:
        return await _both(bench, name, *LIMITS_US["rootless"], rootless_wanted=True)
    if shutil.which("setpriv") is None:
        return [make_placeholder(name, "no setpriv to become an ordinary user with")]
    command = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    command += [sys.executable, "-m", "benches.link", "--only", "delay-rootless", "--json"]
    command += ["--quick"] * bench.quick + (["--backend", bench.backend.value] if bench.backend else [])
    environment = {**os.environ, "RESOLAB_CORE": str(engine.find_core()), "HOME": "/", "PYTHONDONTWRITEBYTECODE": "1"}
    with _open_to_all(TUN_DEVICE):
        ended = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=False, env=environment
        )
    if ended.returncode != 0:
        reason = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        # What an ordinary user may not do here is the machine's; anything else is a path that does not work.
        if any(word in reason for word in NO_RIGHTS):
            return [make_placeholder(name, reason)]
        return [LinkFigure(name, "", "", reason, "MISSED")]
    return [LinkFigure(**row) for row in json.loads(ended.stdout)["figures"]]


@contextlib.contextmanager
def _open_to_all(device: Path) -> Iterator[None]:
    """Let ordinary users open a device; restore the mode after any outcome."""
    mode = device.stat().st_mode & 0o7777
    device.chmod(0o666)
    try:
        yield
    finally:
        device.chmod(mode)


async def _both(
    bench: LinkBench, name: str, must: list[float], aim: list[float], *, rootless_wanted: bool
) -> list[LinkFigure]:
    return [
        await _one(bench, name, must, aim, keep_awake=keep_awake, rootless_wanted=rootless_wanted)
        for keep_awake in (False, True)
    ]


async def _one(
    bench: LinkBench, name: str, must: list[float], aim: list[float], *, keep_awake: bool, rootless_wanted: bool
) -> LinkFigure:
    each: dict[str, list[float]] = {}
    together = []
    for delay_ms in DELAYS_MS:
        way = f"one_way_delay_ms = {delay_ms}"
        async with run_path(bench, way, way, keep_awake=keep_awake) as path:
            if path.path.ready.rootless is not rootless_wanted:
                raise SystemExit(f"{name}: the path says rootless = {path.path.ready.rootless}")
            for direction in (LinkDirection.UP, LinkDirection.DOWN):
                errors = await _errors_us(bench, path.pid, direction, delay_ms)
                each[f"{delay_ms:g} ms {direction.value}"] = quantiles(errors)
                together.append(errors)
    worst = [max(values[place] for values in each.values()) for place in range(3)]
    everything = quantiles(np.concatenate(together))
    measured = (
        f"worst way {worst[0]:.0f} / {worst[1]:.0f}, max {worst[2]:.0f}; all {everything[0]:.0f} / {everything[1]:.0f}"
    )
    return LinkFigure(
        f"{name}, keep-awake {'on' if keep_awake else 'off'}: p50 / p99 us",
        f"{must[0]:.0f} / {must[1]:.0f}",
        f"{aim[0]:.0f} / {aim[1]:.0f}",
        measured,
        verdict(worst[:2], must, aim),
        {"p50_p99_max_us": {key: [round(value, 1) for value in values] for key, values in each.items()}},
    )


async def _errors_us(
    bench: LinkBench, pid: int, direction: LinkDirection, delay_ms: float
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    record = await engine.send_train(
        pid,
        direction,
        packets_count=round(bench.seconds(PROBES_COUNT)),
        packet_bytes=100,
        interval_us=1e6 / PROBES_PER_S,
    )
    if None in record.received_ns:
        raise SystemExit(f"a link without loss lost {record.received_ns.count(None)} packets")
    delays_ns = np.array(record.received_ns, float) - np.array(record.sent_ns, float)
    return np.asarray(delays_ns / 1e3 - delay_ms * 1e3)
