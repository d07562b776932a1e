"""Loads for the cells of one browser and resolver path, on the same testbed as a campaign's.

For: running trials, and reading from their records the requested state and the time of the first byte. Not for: the
expectation (`cells`) or the table (`table`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benches.browsers.cells import BrowserCell, plan
from resolab.basics.records import PageLoadRecord
from resolab.campaign.schedule import schedule
from resolab.plan import Condition, Corpus, access_rtt_ms
from resolab.trials.page_load.runner import PageLoadRunner
from resolab.trials.trial_result import TrialResult

HARMLESS_FLAGS = {"lateness_exceeded", "device_drops"}
"""The flags about the link during a load, unrelated to the requested state."""


@dataclass(frozen=True)
class BrowserLoad:
    """A measured load of a cell."""

    cell: BrowserCell
    reached: bool
    why_not: str
    first_byte_ms: float | None
    overhead_ms: float


async def measure(
    cells_of_way: Sequence[BrowserCell], *, profile: str, loads: int, say: Callable[[str], None]
) -> list[BrowserLoad]:
    """Load every cell `loads` times, in blocks of random order; the cells share browser and way."""
    whole = plan(cells_of_way, profile=profile, loads=loads)
    found = []
    async with PageLoadRunner(whole, Corpus.from_project(), whole.seed) as testbed:
        for planned in schedule(whole, whole.seed, whole.blocks):
            cell = cell_of(planned.condition)
            say(f"{cell.browser} {cell.way} {cell.http_version} {cell.handshake}, load {planned.block + 1} of {loads}")
            found.append(judge(cell, await testbed.run_trial(planned.condition, planned.trial_id)))
    return found


def judge(cell: BrowserCell, result: TrialResult) -> BrowserLoad:
    """Read the result of a trial."""
    measured = next(r for r in result.records if isinstance(r, PageLoadRecord) and r.measured)
    why_not = [str(flag.value) for flag in result.flags if flag not in HARMLESS_FLAGS]
    if measured.failure is not None:
        why_not.append(f"{measured.failure}: {measured.failure_detail}")
    elif measured.handshake_mode != cell.handshake:
        why_not.append(f"handshake {measured.handshake_mode}")
    return BrowserLoad(cell, not why_not, "; ".join(why_not), measured.response_start_ms, result.overhead_ms)


def round_trip_ms(name: str) -> float:
    """Return the round trip of a profile, in ms."""
    return access_rtt_ms(Corpus.from_project().profile(name))


def cell_of(condition: Condition) -> BrowserCell:
    """Name the cell of a condition."""
    return BrowserCell(
        str(condition.browser),
        f"{condition.resolver_path}-{condition.dns_transport}",
        str(condition.http_version),
        str(condition.requested_handshake_mode),
    )
