"""Loads judged twice: by the edge, and by the client side alone.

For: running loads and pairing both verdicts. Not for: the table (`table`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benches.client_side.cells import Group
from benches.client_side.logged_browsers import start_logged_browsers
from resolab.basics.records import PageLoadRecord, QueryRecord
from resolab.browser import LoadResult
from resolab.campaign.schedule import schedule
from resolab.plan import Corpus
from resolab.trials.live.client_side import judge_load
from resolab.trials.page_load.runner import PageLoadRunner

if TYPE_CHECKING:
    from resolab.browser.browser_log import BrowserLog

ASPECTS = ("handshake_mode", "dns_handshake_mode", "dns_connection_state")
"""The aspects judged by both sides, by the record's names."""


@dataclass(frozen=True)
class VerdictPair:
    """Both verdicts on an aspect of a load."""

    group: Group
    aspect: str
    edge: str | None
    client: str | None
    asked: str
    """The requested handshakes of the page's and the resolver's connection, and the resolver connection's state."""

    @property
    def word(self) -> str:
        """Return `agree`, `disagree`, or `null` when the client side lacks the fact known to the edge."""
        if self.edge == self.client:
            return "agree"
        return "null" if self.client is None else "disagree"


async def measure(
    group: Group, *, page: str, profile: str, loads: int, folder: Path, say: Callable[[str], None]
) -> list[VerdictPair]:
    """Load every cell of a group `loads` times, in blocks of random order."""
    plan = group.plan(page=page, profile=profile, blocks=loads)
    found: list[VerdictPair] = []
    seen: list[tuple[LoadResult, BrowserLog | None]] = []
    with start_logged_browsers(folder, lambda load, log: seen.append((load, log))):
        async with PageLoadRunner(plan, Corpus.from_project(), plan.seed) as testbed:
            for planned in schedule(plan, plan.seed, plan.blocks):
                condition = planned.condition
                asked = f"{condition.requested_handshake_mode} {condition.requested_dns_handshake_mode}"
                asked += f" {condition.dns_connection_state}"
                say(f"{group.browser} {group.way} {group.version} {asked}, load {planned.block + 1} of {loads}")
                result = await testbed.run_trial(condition, planned.trial_id)
                edge = next(r for r in result.records if isinstance(r, PageLoadRecord) and r.measured)
                load, log = seen[-1]
                of_load = [r for r in result.records if not isinstance(r, QueryRecord) or _is_in_load(r, load)]
                client = judge_load(load, log, of_load, ())
                found += [
                    VerdictPair(group, aspect, _text(getattr(edge, aspect)), _text(getattr(client, aspect)), asked)
                    for aspect in ASPECTS
                ]
    return found


def _is_in_load(query: QueryRecord, load: LoadResult) -> bool:
    """Return True when a query came after the warm-up; called only for the stub's queries."""
    begin_unix_ms = load.measured.timings.navigation_start_unix_ms if load.measured.timings else None
    return begin_unix_ms is None or query.time_origin_ns / 1e6 >= begin_unix_ms - _unix_offset_ms()


def _unix_offset_ms() -> float:
    return (time.time_ns() - time.monotonic_ns()) / 1e6


def _text(value: object) -> str | None:
    return None if value is None else str(value)
