"""The waits for the names of a document, by announcement, beside the closed form; and their cost.

For: the tables of `scripts/bench announced`. Not for: running (`testbed`), the closed form (`model`).
"""

import asyncio
import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.announced import model, testbed
from benches.announced.model import DocumentCase
from benches.announced.testbed import FetchWithBytes
from benches.common import turns
from benches.common.part import BenchPart, verdict
from benches.common.progress import Progress
from benches.dns.cold import pause_ms, rates
from resolab.stats.estimate import Estimate
from resolab.stats.medians import estimate_paired_difference
from resolab.stats.sample import Sample

ANNOUNCEMENTS = ("document", "early_hints", "https_record", "server_push")
MODES = ("separate", "shared_connection")
SERVER_TIMES_MS = (0.0, 150.0)
NAME_DELAYS_MS = (0.0, 60.0)
TURN_COUNT = 2
"""The number of fetches of a cell before the next cell's turn."""
LIMIT_MS = 2.0
"""The limit of the median wait beyond the closed form, in either direction."""
START_S = 0.3
FITTING_COUNT = 8
"""The number of answers fitting into a first window of ten segments (RFC 6928) beside the document. With more answers,
the figures measure a window's round trips, missing in the closed form."""


@dataclass(frozen=True)
class AnnouncementBench:
    """The settings of a measurement."""

    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    profile: str
    names_count: int
    rounds_count: int
    congestion_control: str


def cases() -> list[DocumentCase]:
    """List the cases to fetch."""
    every = itertools.product(ANNOUNCEMENTS, MODES, SERVER_TIMES_MS, NAME_DELAYS_MS)
    return [case for case in itertools.starmap(DocumentCase, every) if case.is_possible]


def estimate_s(bench: AnnouncementBench) -> float:
    """Estimate the duration, in s."""
    return _turn_s(bench, bench.rounds_count) * len(cases())


def _turn_s(bench: AnnouncementBench, count: int) -> float:
    link = rates(bench.profile)
    one_s = (8 * link.rtt_ms + pause_ms(bench.profile) + statistics.mean(SERVER_TIMES_MS)) / 1e3
    return START_S * count / TURN_COUNT + one_s * count


def measure(bench: AnnouncementBench) -> list[BenchPart]:
    """Fetch every case over one path, the order reversed every other turn."""
    found = asyncio.run(_measure(bench))
    return [_waits(bench, found), _costs(found)]


async def _measure(bench: AnnouncementBench) -> dict[DocumentCase, list[FetchWithBytes]]:
    found: dict[DocumentCase, list[FetchWithBytes]] = {case: [] for case in cases()}
    async with testbed.open_path(
        bench.profile, bench.names_count, cases(), bench.scratch, bench.congestion_control
    ) as bed:
        turns_count = -(-bench.rounds_count // TURN_COUNT)
        for turn in range(turns_count):
            bench.progress.step(f"turn {turn + 1} of {turns_count}", _turn_s(bench, TURN_COUNT) * len(found))
            for case in turns.order_arms(found, turn):
                fetched = found[case]
                count = min(TURN_COUNT, bench.rounds_count - len(fetched))
                fetched.extend(await bed.fetch(case, count))
    return found


def _waits(bench: AnnouncementBench, found: dict[DocumentCase, list[FetchWithBytes]]) -> BenchPart:
    title = f"{bench.names_count} names of a document over {bench.profile}, TCP with {bench.congestion_control}: "
    title += "how long they are waited for, medians, ms"
    columns = ["announcement", "mode", "server time", "name delay", "n", "document there", "names waited for"]
    columns += ["by closed form", "beyond", f"|beyond| <= {LIMIT_MS:g}", "less than by the document"]
    part = BenchPart("waits", title, columns)
    link = rates(bench.profile)
    for case, fetched in found.items():
        alone = found[_alone(case)]
        bytes_ms = _bytes_ms(bench, alone)
        wait_ms = statistics.median(map(_wait_ms, fetched))
        expected_ms = model.wait_ms(case, link.rtt_ms, bytes_ms)
        document_ms = statistics.median((one.record.document_first_byte_ns or 0) / 1e6 for one in fetched)
        saved = _difference(alone, fetched, _wait_ms)
        cells = [case.announcement, case.mode, f"{case.server_time_ms:g}", f"{case.name_delay_ms:g}"]
        cells += [str(len(fetched)), f"{document_ms:.1f}", f"{wait_ms:.1f}", f"{expected_ms:.1f}"]
        limit_ms = LIMIT_MS if bench.names_count <= FITTING_COUNT else None
        cells += [
            f"{wait_ms - expected_ms:+.1f}",
            verdict(abs(wait_ms - expected_ms), limit_ms),
            _format_estimate(saved),
        ]
        data = asdict(case) | {"wait_ms": wait_ms, "expected_ms": expected_ms, "document_ms": document_ms}
        data |= {"saved_ms": saved.value, "saved_low_ms": saved.ci_low, "saved_high_ms": saved.ci_high}
        part.add(cells, data | {"n": len(fetched), "bytes_ms": bytes_ms})
    part.remarks.append(
        "closed form: max(0, names known - document there); a name takes a round trip, its delay, and what the "
        "queries and answers of all take on the link, by the packets of the arm `document`"
    )
    return part


def _costs(found: dict[DocumentCase, list[FetchWithBytes]]) -> BenchPart:
    title = "The same: when all of it is there, and IP bytes, from the query for the document's own name on, medians"
    columns = ["announcement", "mode", "server time", "name delay", "all there, ms", "less than by the document"]
    columns += ["bytes up", "bytes down"]
    part = BenchPart("costs", title, columns)
    for case, fetched in found.items():
        saved = _difference(found[_alone(case)], fetched, _complete_ms)
        complete_ms = statistics.median(map(_complete_ms, fetched))
        up, down = (
            round(statistics.median(getattr(one, name) for one in fetched)) for name in ("up_bytes", "down_bytes")
        )
        cells = [case.announcement, case.mode, f"{case.server_time_ms:g}", f"{case.name_delay_ms:g}"]
        part.add(
            [*cells, f"{complete_ms:.1f}", _format_estimate(saved), f"{up:,}", f"{down:,}"],
            asdict(case) | {"complete_ms": complete_ms, "saved_ms": saved.value, "up_bytes": up, "down_bytes": down},
        )
    return part


def _alone(case: DocumentCase) -> DocumentCase:
    """Return the same case by the document alone."""
    return DocumentCase("document", case.mode, case.server_time_ms, case.name_delay_ms)


def _bytes_ms(bench: AnnouncementBench, alone: Sequence[FetchWithBytes]) -> float:
    """Compute the transfer time of the names' messages on the link."""
    link = rates(bench.profile)
    up = statistics.median(one.names_up_bytes for one in alone)
    down = statistics.median(one.names_down_bytes for one in alone)
    return link.closed_form_ms(0, up, down)


def _wait_ms(one: FetchWithBytes) -> float:
    return (one.record.name_wait_ns or 0) / 1e6


def _complete_ms(one: FetchWithBytes) -> float:
    return (one.record.names_complete_ns or 0) / 1e6


def _difference(
    alone: Sequence[FetchWithBytes], fetched: Sequence[FetchWithBytes], outcome: Callable[[FetchWithBytes], float]
) -> Estimate:
    """Return the saving against the document alone, from fetches of the same turn."""
    return estimate_paired_difference(*(Sample.exact([outcome(one) for one in arm]) for arm in (alone, fetched)))


def _format_estimate(estimate: Estimate) -> str:
    low, high = estimate.ci_low, estimate.ci_high
    interval = "too few" if low is None or high is None else f"{low:.1f}, {high:.1f}"
    return f"{estimate.value:.1f} [{interval}]"
