"""Look-ups with a known failure, to check the failure's name on the client side.

For: running and judging these loads. Not for: handshakes (`verdicts`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benches.client_side.cells import Group
from benches.client_side.logged_browsers import start_logged_browsers
from benches.common.part import BenchPart
from resolab.basics.records import DnsFailure, FailureMode, QueryPurpose, QueryRecord
from resolab.campaign.schedule import schedule
from resolab.plan import Corpus
from resolab.trials.live.client_side import judge_load
from resolab.trials.page_load.runner import PageLoadRunner

if TYPE_CHECKING:
    from resolab.browser import LoadResult
    from resolab.browser.browser_log import BrowserLog

TRUTH = {
    FailureMode.NXDOMAIN: DnsFailure.NXDOMAIN,
    FailureMode.SERVFAIL: DnsFailure.SERVFAIL,
    FailureMode.REFUSED: DnsFailure.REFUSED,
    FailureMode.DROP: DnsFailure.TIMEOUT,
}
PAGE_TIMEOUT_S = 8.0
"""A time above 5 s, the C library's time before a second query to a name server."""
WAYS = ("native-doudp", "native-doh", "stub-dot")
COLUMNS = ["browser", "resolver", "the resolver", "page's failure", "told", "by", "verdict"]


@dataclass(frozen=True)
class FailedLookUp:
    """A load with a failed look-up."""

    group: Group
    mode: FailureMode
    page_failure: str | None
    failure: DnsFailure | None
    by: str | None


async def measure(
    group: Group, *, page: str, profile: str, folder: Path, say: Callable[[str], None]
) -> list[FailedLookUp]:
    """Run a load with each kind of failure."""
    plan = group.plain_plan(page=page, profile=profile, blocks=len(TRUTH), page_timeout_s=PAGE_TIMEOUT_S)
    seen: list[tuple[LoadResult, BrowserLog | None]] = []
    told = []
    with start_logged_browsers(folder, lambda load, log: seen.append((load, log))):
        async with PageLoadRunner(plan, Corpus.from_project(), plan.seed) as testbed:
            host = testbed.build_url(page).split("/")[2]
            for mode, planned in zip(TRUTH, schedule(plan, plan.seed, plan.blocks), strict=True):
                say(f"{group.browser} {group.way}, {mode}")
                await testbed.edge.set_name_behaviour(host, failure=mode)
                result = await testbed.run_trial(planned.condition, planned.trial_id)
                await testbed.edge.set_name_behaviour(host)
                load, log = seen[-1]
                queries = [one for one in result.records if isinstance(one, QueryRecord)]
                own = [one for one in queries if one.purpose is QueryPurpose.MEASURED]
                judged = judge_load(load, log, queries, own)
                told.append(FailedLookUp(group, mode, load.failure, judged.dns_failure, judged.dns_failure_told_by))
    return told


def table(told: Sequence[FailedLookUp]) -> BenchPart:
    """Judge each failed look-up."""
    part = BenchPart("failures", "failed look-ups told from the client's side", COLUMNS)
    for one in told:
        verdict = "met" if one.failure is TRUTH[one.mode] else "" if one.failure is None else "MISSED"
        where = [
            one.group.browser,
            one.group.way,
            f"answers {one.mode}" if one.mode is not FailureMode.DROP else "drops",
        ]
        part.add(
            [*where, str(one.page_failure), str(one.failure), str(one.by), verdict],
            {"browser": one.group.browser, "way": one.group.way, "mode": one.mode, "told": one.failure, "by": one.by},
        )
    return part
