"""The response times of twenty names, queried in one message and one by one.

For: the part `names` of `scripts/bench partial`. Not for: running (`testbed`), the expectation (`closed_form`).
"""

import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.common.part import BenchPart
from benches.common.progress import Progress
from benches.dns.cold import cells, pause_ms, rates
from benches.partial import closed_form, testbed
from benches.partial.testbed import NamesExchange
from resolab.stats.estimate import Estimate
from resolab.stats.medians import estimate_paired_difference
from resolab.stats.sample import Sample

START_S = 1.0
LIMIT_MS = 2.0
"""The limit of the median beyond the closed form, in either direction."""


@dataclass(frozen=True)
class PartialResponseBench:
    """The settings of a measurement."""

    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    profile: str
    transports: Sequence[str]
    names_count: int
    delay_ms: float
    rounds_count: int


@dataclass(frozen=True)
class TransportCell:
    """A transport with a handshake."""

    transport: str
    handshake: str
    in_message: Sequence[NamesExchange]
    one_by_one: Sequence[NamesExchange]


def estimate_s(bench: PartialResponseBench) -> float:
    """Estimate the duration, in s."""
    return sum(_cell_s(bench, *cell) for cell in cells_of(bench))


def cells_of(bench: PartialResponseBench) -> list[tuple[str, str]]:
    """List each transport with each handshake."""
    return [(one, handshake) for handshake, some in cells(bench.transports).items() for one in some]


def _cell_s(bench: PartialResponseBench, transport: str, handshake: str) -> float:
    trips = closed_form.round_trips(transport, handshake)
    if handshake != "full":
        trips += closed_form.round_trips(transport, "full")
    round_ms = trips * rates(bench.profile).rtt_ms + bench.delay_ms + pause_ms(bench.profile)
    return (
        2 * (bench.rounds_count * round_ms / 1e3 + testbed.estimate_closing_s(bench.profile, bench.rounds_count))
        + START_S
    )


def measure(bench: PartialResponseBench) -> list[BenchPart]:
    """Measure every cell over a common path."""
    found = asyncio.run(ask_cells(bench, bench.rounds_count, _cell_s))
    return [_compare_with_closed_form(bench, found), _compare_with_one_by_one(bench, found)]


async def ask_cells(
    bench: PartialResponseBench,
    rounds_count: int,
    cell_s: Callable[[PartialResponseBench, str, str], float],
    *,
    with_layers: bool = False,
) -> list[TransportCell]:
    """Query in every cell over a common path, one name of each message late; `cell_s` is the duration of a cell."""
    found = []
    delays_ms = [*[0.0] * (bench.names_count - 1), bench.delay_ms]
    async with testbed.run_bed(bench.profile, delays_ms, bench.scratch) as bed:
        for handshake, transports in cells(bench.transports).items():
            async with bed.edge(handshake):
                for transport in transports:
                    bench.progress.step(f"{transport}, {handshake}", cell_s(bench, transport, handshake))
                    arms = await bed.ask(transport, handshake, rounds_count, with_layers=with_layers)
                    found.append(TransportCell(transport, handshake, *arms))
    return found


def _compare_with_closed_form(bench: PartialResponseBench, found: Sequence[TransportCell]) -> BenchPart:
    title = f"{bench.names_count} names in one message over {bench.profile}, one of them {bench.delay_ms:g} ms late"
    columns = [
        "transport",
        "handshake",
        "k",
        "n",
        "first ms",
        "closed form",
        "c",
        "last ms",
        "closed form",
        "c",
        "verdict",
    ]
    part = BenchPart("closed form", title, columns)
    part.remarks = [
        "medians from wanting all, before any socket exists; first: all answers known at once; last: the late one",
        "closed form: k x RTT + bytes x 8 / rate (+ the delay), bytes by the path's capture; c: the rest",
        f"must: the median of either c within {LIMIT_MS:g} ms",
    ]
    link = rates(bench.profile)
    for cell in found:
        judged = [
            one
            for one in (closed_form.judge(each, cell.handshake, bench.delay_ms, link) for each in cell.in_message)
            if one
        ]
        medians = closed_form.medians(judged)
        beyond = (medians.first_beyond_ms, medians.last_beyond_ms) if medians else (None, None)
        is_met = all(one is not None and abs(one) <= LIMIT_MS for one in beyond)
        numbers = ["-"] * 6
        if medians is not None:
            numbers = [f"{value:.2f}" for value in medians.list_numbers()]
        verdict = "met" if is_met and len(judged) * 2 > len(cell.in_message) else "MISSED"
        trips = closed_form.round_trips(cell.transport, cell.handshake)
        part.add(
            [cell.transport, cell.handshake, str(trips), str(len(judged)), *numbers, verdict],
            {"transport": cell.transport, "handshake": cell.handshake, "rounds": [asdict(one) for one in judged]},
        )
    return part


def _compare_with_one_by_one(bench: PartialResponseBench, found: Sequence[TransportCell]) -> BenchPart:
    title = f"One message less {bench.names_count} messages at the same time, ms, paired by round"
    columns = [
        "transport",
        "handshake",
        "n",
        "to the first",
        "to the last but the late one",
        "to the last",
        "all, on average",
        "behind",
    ]
    part = BenchPart("one by one", title, columns)
    part.remarks = [
        "medians of paired differences with 95 % intervals of order statistics; negative: one message is earlier",
        "behind: names more than half a round trip after the first, the late one aside; one message / one by one",
    ]
    rtt_ms = rates(bench.profile).rtt_ms
    for cell in found:
        pairs = list(zip(cell.in_message, cell.one_by_one, strict=True))
        shown: list[str] = []
        data: dict[str, object] = {}
        for name, outcome in OUTCOMES.items():
            in_message, one_by_one = (Sample.exact([outcome(pair[arm]) for pair in pairs]) for arm in (0, 1))
            estimate = estimate_paired_difference(in_message, one_by_one)
            shown.append(estimate_text(estimate))
            data[name] = {"value": estimate.value, "low": estimate.ci_low, "high": estimate.ci_high}
        behind = [statistics.median(_behind(one, rtt_ms) for one in arm) for arm in (cell.in_message, cell.one_by_one)]
        data |= {"cell": [cell.transport, cell.handshake], "behind_count": behind}
        shown.append(" / ".join(f"{count:g}" for count in behind))
        part.add([cell.transport, cell.handshake, str(len(pairs)), *shown], data)
    return part


def _behind(one: NamesExchange, rtt_ms: float) -> int:
    first_ms, *others_ms, _late = one.times_ms
    return sum(time_ms > first_ms + rtt_ms / 2 for time_ms in others_ms)


def estimate_text(estimate: Estimate) -> str:
    """Write a difference with its interval."""
    low, high = estimate.ci_low, estimate.ci_high
    interval = "too few" if low is None or high is None else f"{low:+.2f}, {high:+.2f}"
    return f"{estimate.value:+.2f} [{interval}]"


OUTCOMES: dict[str, Callable[[NamesExchange], float]] = {
    "first": lambda one: one.times_ms[0],
    "last_but_late": lambda one: one.times_ms[-2],
    "last": lambda one: one.times_ms[-1],
    "mean": lambda one: statistics.mean(one.times_ms),
}
