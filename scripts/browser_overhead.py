"""The cost of a page load beside the page: wall time by part and the browser's memory over many loads.

For: Chromium or Firefox behind an emulated path, each load in a fresh context, with a warm-up as in a trial or without.
Not for: page load times for quoting; the script has no verdicts.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from resolab import browser as browsers
from resolab.basics.records import HttpVersion
from resolab.browser import Browser, BrowserSettings, DohSettings, LoadRequest, LoadResult
from resolab.lab import engine

ROOT = Path(__file__).parents[1]
HOST, RESOLVER, ADDRESS = "overhead.resolab.test", "dns.resolab.test", "10.77.0.1"
PARTS = ("prepare_ms", "warmup_ms", "clear_ms", "collect_ms", "dispose_ms")
SETTLE_S = 0.1
PICTURE = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
PAGE = "<!doctype html><link rel=icon href=data:,><title>t</title><h1>Words</h1><img src=one.svg><img src=two.svg>"
EDGE = f"""
[ca]
folder = "ca"
[resolver]
name = "{RESOLVER}"
addresses = ["{ADDRESS}"]
[[site]]
host = "{HOST}"
address = "10.77.1.1"
folder = "site"
[[zone]]
name = "www.gstatic.com"
type = "A"
value = "10.77.1.254"
"""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", choices=("chromium", "firefox"), default="chromium")
    parser.add_argument("--loads", type=int, default=20, metavar="N")
    parser.add_argument("--profile", default="4g", help="access network (a name in profiles/)")
    parser.add_argument("--http", choices=[version.value for version in HttpVersion], default="h3")
    parser.add_argument("--doh", choices=("h2", "h3"), help="the browser's own DoH; default: Do53")
    parser.add_argument("--no-warmup", action="store_true", help="one load a fresh context, nothing before it")
    parser.add_argument("--memory-at", type=int, nargs="*", default=[50, 250, 500], metavar="N")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines for people")
    return parser.parse_args()


@contextlib.asynccontextmanager
async def lab(folder: Path, profile: str) -> AsyncIterator[tuple[int, engine.Edge]]:
    """Run a path with an edge behind the path."""
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text(PAGE)
    for name in ("one", "two"):
        (folder / f"site/{name}.svg").write_text(PICTURE)
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {RESOLVER}\n")
    (folder / "edge.toml").write_text(EDGE)
    async with contextlib.AsyncExitStack() as stack:
        path = await engine.Path.start(
            ROOT / f"profiles/{profile}.toml", seed=1, keep_awake=False, on_record=lambda _: None
        )
        stack.push_async_callback(path.close)
        edge = await engine.Edge.start(path.ready.pid, folder / "edge.toml", on_record=lambda _: None)
        stack.push_async_callback(edge.close)
        yield path.ready.pid, edge


def settings_for(asked: argparse.Namespace, edge: engine.Edge, folder: Path) -> BrowserSettings:
    """Build the browser's settings."""
    doh = DohSettings(host=RESOLVER, address=ADDRESS, http_version=HttpVersion(asked.doh)) if asked.doh else None
    return BrowserSettings(
        resolvable_names=("*.resolab.test",),
        http_version=HttpVersion(asked.http),
        h3_hosts=(HOST,),
        doh=doh,
        ca_file=Path(edge.ready.ca_file),
        scratch_folder=folder,
    )


def process_tree(root_pid: int) -> list[int]:
    """List a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [root_pid]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def memory_of(root_pid: int) -> dict[str, float]:
    """Sum a process tree's proportional set sizes; other users' browsers change these, except the anonymous part."""
    kib = {"Pss:": 0, "Pss_Anon:": 0}
    count = 0
    for pid in process_tree(root_pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                key = line.split()[0]
                if key in kib:
                    kib[key] += int(line.split()[1])
            count += 1
    pss, anonymous = (round(value / 1024, 1) for value in kib.values())
    return {"pss_mib": pss, "anonymous_mib": anonymous, "processes": count}


class Measurement:
    """The measurement of consecutive loads, with the cost of each, and memory at some loads."""

    def __init__(self, asked: argparse.Namespace, browser: Browser, edge: engine.Edge) -> None:
        self._asked, self._browser, self._edge = asked, browser, edge
        self._between_ms = 0.0
        self._rows: list[dict[str, float]] = []
        self._memory: dict[int, dict[str, float]] = {}
        self._failures: list[str] = []

    async def run(self) -> dict[str, object]:
        """Run the loads and return the summary."""
        for number in range(1, self._asked.loads + 1):
            began_s = time.monotonic()
            request = LoadRequest(
                url=f"https://{HOST}/", timeout_s=30, warmup=not self._asked.no_warmup, between=self._pause_between
            )
            result = await self._browser.load(request)
            self._keep(result, (time.monotonic() - began_s) * 1000)
            if number in self._asked.memory_at and self._browser.pid is not None:
                self._memory[number] = memory_of(self._browser.pid)
        return self._summary()

    async def _pause_between(self) -> None:
        began_s = time.monotonic()
        await self._edge.close_connections()
        await asyncio.sleep(SETTLE_S)
        self._between_ms = (time.monotonic() - began_s) * 1000

    def _keep(self, result: LoadResult, wall_ms: float) -> None:
        timings = [load.timings for load in (result.warmup, result.measured) if load and load.timings]
        loads_ms = [one.plt_ms for one in timings if one.plt_ms is not None]
        if result.failure is not None or len(loads_ms) != 2 - self._asked.no_warmup:
            self._failures.append(f"{result.failure}: {result.measured.failure_detail}")
            return
        *warmup_ms, measured_ms = loads_ms
        row = {part: getattr(result.overhead, part) for part in PARTS}
        row |= {"told_ms": result.overhead.total_ms, "plt_ms": measured_ms, "warmup_plt_ms": sum(warmup_ms)}
        row["beyond_loads_ms"] = wall_ms - self._between_ms - sum(loads_ms)
        row["beyond_a_load_ms"] = row["beyond_loads_ms"] / len(loads_ms)
        self._rows.append(row)

    def _summary(self) -> dict[str, object]:
        names = list(self._rows[0]) if self._rows else []
        return {
            "browser": self._browser.name,
            "version": self._browser.version,
            "profile": self._asked.profile,
            "http": self._asked.http,
            "doh": self._asked.doh,
            "loads": self._asked.loads,
            "warmup": not self._asked.no_warmup,
            "failures": self._failures,
            "median": {name: round(statistics.median(row[name] for row in self._rows), 1) for name in names},
            "memory": {str(number): memory for number, memory in self._memory.items()},
            "load_average": round(os.getloadavg()[0], 2),
        }


async def measure(asked: argparse.Namespace) -> dict[str, object]:
    """Set the lab up, measure, remove the lab."""
    folder = Path(tempfile.mkdtemp(prefix="resolab-overhead-"))
    browser: Browser = getattr(browsers, asked.browser.capitalize())()
    try:
        async with lab(folder, asked.profile) as (path_pid, edge):
            hosts = folder / "hosts" if asked.doh else None
            prefix = engine.enter_prefix(path_pid, "client", nameserver=ADDRESS, hosts_file=hosts)
            try:
                await browser.start(prefix, settings_for(asked, edge, folder))
                return await Measurement(asked, browser, edge).run()
            finally:
                await browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(found: dict[str, object]) -> None:
    """Print the result for people."""
    warmup = "" if found["warmup"] else " without warm-up"
    print(f"{found['browser']} {found['version']}, {found['loads']} loads{warmup} over {found['profile']}, "
          f"{found['http']}, DoH {found['doh'] or 'off'}, load average {found['load_average']}")  # fmt: skip
    for name, value in dict(found["median"]).items():  # type: ignore[call-overload]
        print(f"  {name:16} {value:8.1f} ms")
    for number, memory in dict(found["memory"]).items():  # type: ignore[call-overload]
        print(f"  after {number:>4} loads {memory['pss_mib']:8.1f} MiB, {memory['anonymous_mib']:.1f} of it "
              f"anonymous, in {memory['processes']} processes")  # fmt: skip
    for failure in list(found["failures"]):  # type: ignore[call-overload]
        print(f"  failed: {failure}")


def main() -> None:
    """Measure and print the result."""
    asked = arguments()
    found = asyncio.run(measure(asked))
    if asked.json:
        print(json.dumps(found))
    else:
        say(found)


if __name__ == "__main__":
    main()
