"""The packets on the link between a navigation and the page's first byte, and their closed form.

For: `scripts/bench browsers --flights`: round trips and bytes of browsers' look-ups and handshakes; the table is in
`protocols.first_byte`. Not for: our own client's exchanges (`benches.dns.cold`), or judging times: bytes do not depend
on the load of a machine.

A load runs under the path's capture and is read like a cold exchange (`benches.dns.flights`): backwards from the packet
with the first byte, over all connections. A delay by another connection counts.
"""

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.browsers.cells import BrowserCell, plan
from benches.browsers.measure import cell_of, judge
from benches.common.part import BenchPart
from benches.dns import cold, flights, path_capture
from resolab.basics.records import PageLoadRecord, PathStartCapture, PathStopCapture
from resolab.campaign.schedule import schedule
from resolab.plan import Condition, Corpus
from resolab.trials.page_load.runner import PageLoadRunner
from resolab.trials.trial_result import TrialResult

BROWSER_CLOCK_NS = 300_000
"""The tolerance of a browser's clock: instants are rounded to 0.1 ms, and a byte reaches the browser after its host."""


@dataclass(frozen=True)
class FirstByteLoad:
    """A load of a cell, with its critical path and its first byte."""

    cell: BrowserCell
    path: Sequence[flights.Flight]
    first_byte_ms: float

    def bytes_of(self, *, up: bool) -> float:
        """Return the bytes of one direction on the critical path."""
        return sum(one.ip_bytes for one in self.path if one.up == up)


async def measure(
    cells_of_way: Sequence[BrowserCell], *, profile: str, loads: int, folder: Path, say: Callable[[str], None]
) -> tuple[list[FirstByteLoad], list[str]]:
    """Load every cell `loads` times under a capture; return the readable loads, and the reasons of unreadable loads."""
    whole = plan(cells_of_way, profile=profile, loads=loads)
    found: list[FirstByteLoad] = []
    problems: list[str] = []
    async with PageLoadRunner(whole, Corpus.from_project(), whole.seed) as testbed:
        for planned in schedule(whole, whole.seed, whole.blocks):
            cell = cell_of(planned.condition)
            say(f"{cell.browser} {cell.way} {cell.http_version} {cell.handshake}, load {planned.block + 1} of {loads}")
            file = folder / f"{planned.trial_id}.pcapng"
            result = await _capture_load(testbed, planned.condition, planned.trial_id, file)
            try:
                found.append(await asyncio.to_thread(_read_first_byte, cell, result, file, cold.rates(profile)))
            except flights.UnclearError as error:
                problems.append(f"{cell.browser} {cell.way} {cell.http_version} {cell.handshake}: {error}")
            file.unlink()
    return found, problems


async def _capture_load(testbed: PageLoadRunner, condition: Condition, trial_id: str, file: Path) -> TrialResult:
    await testbed.path.process.command(lambda number: PathStartCapture(id=number, file=str(file)))
    result = await testbed.run_trial(condition, trial_id)
    await testbed.path.process.command(lambda number: PathStopCapture(id=number))
    return result


def _read_first_byte(cell: BrowserCell, result: TrialResult, file: Path, link: flights.Rates) -> FirstByteLoad:
    load = judge(cell, result)
    if not load.reached or load.first_byte_ms is None:
        message = f"not as asked: {load.why_not}"
        raise flights.UnclearError(message)
    measured = next(one for one in result.records if isinstance(one, PageLoadRecord) and one.measured)
    began_ns = _monotonic_ns(measured.navigation_start_unix_ms)
    answered_ns = began_ns + round(load.first_byte_ms * 1e6) + BROWSER_CLOCK_NS
    crossings = [one for one in path_capture.read(file) if began_ns - BROWSER_CLOCK_NS <= one.entered_ns <= answered_ns]
    return FirstByteLoad(cell, flights.critical_path(crossings, began_ns, answered_ns, 0, 0, link), load.first_byte_ms)


def _monotonic_ns(unix_ms: float | None) -> int:
    if unix_ms is None:
        message = "the browser did not say when it began"
        raise flights.UnclearError(message)
    return round(unix_ms * 1e6) - (time.time_ns() - time.monotonic_ns())


def table(
    cells: Sequence[BrowserCell], seen: Sequence[FirstByteLoad], profile: str, problems: Sequence[str]
) -> BenchPart:
    """Make a table with a row of medians per cell."""
    link = cold.rates(profile)
    columns = ["browser", "resolver", "page", "loads", "trips (seen)", "bytes up / down", "closed form ms"]
    columns += ["first byte ms", "beyond it ms"]
    part = BenchPart("flights", f"navigation to first byte over {profile}: the critical path", columns)
    for cell in cells:
        own = [one for one in seen if one.cell == cell]
        if not own:
            part.missed_count += 1
            part.remarks.append(
                f"{cell.browser} {cell.way} {cell.http_version} {cell.handshake}: no load says anything"
            )
            continue
        up, down = (statistics.median([one.bytes_of(up=way) for one in own]) for way in (True, False))
        trips = statistics.median_low([len(one.path) // 2 for one in own])
        closed_ms, first_ms = link.closed_form_ms(cell.trips, up, down), statistics.median(o.first_byte_ms for o in own)
        part.add(
            [
                *[cell.browser, cell.way, f"{cell.http_version} {cell.handshake}", str(len(own))],
                *[f"{cell.trips} ({trips})", f"{up:.0f} / {down:.0f}", f"{closed_ms:.1f}"],
                *[f"{first_ms:.1f}", f"{first_ms - closed_ms:+.1f}"],
            ],
            {
                "browser": cell.browser, "way": cell.way, "http_version": cell.http_version,
                "handshake": cell.handshake, "trips": trips, "up_bytes": up, "down_bytes": down,
                "closed_form_ms": closed_ms, "first_byte_ms": first_ms,
                "flights": [
                    {"up": one.up, "packets_bytes": list(one.packets), "left_bytes": round(one.left_bytes)}
                    for one in own[0].path
                ],
            },
        )  # fmt: skip
    part.remarks += [f"left out: {one}" for one in problems]
    part.remarks.append("bytes: IP bytes on the critical path, other connections' in its way included; medians")
    return part
