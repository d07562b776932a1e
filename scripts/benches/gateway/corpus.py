"""Pages of the corpus through the gateway: check the completeness of loads against loads without the gateway.

For: `scripts/bench gateway`, its part `corpus`. Not for: the effect of sharing on times (plans), or the fidelity of
clones (`bench clones`).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benches.common.part import BenchPart
from benches.gateway.bench import GatewayBench, plan
from resolab.basics.errors import ResolabError
from resolab.basics.records import EdgeRequestRecord, HandshakeMode, PageLoadRecord
from resolab.plan import Condition, Corpus
from resolab.trials.page_load.runner import PageLoadRunner
from resolab.trials.trial_result import TrialResult

PROFILE = "cable"
LOAD_S, START_S = 12.0, 15.0
ARMS = ("native", "separate", "resolver_connection")
"""The arms: without the gateway, through the gateway, and on the resolver's connection as far as allowed."""


@dataclass(frozen=True)
class PageLoadResults:
    """The results of a page's loads by arm."""

    page: str
    browser: str
    failures: dict[str, str | None]
    requests: dict[str, int]
    """The number of URLs answered by the edge, each counted once."""


def estimate_s(bench: GatewayBench) -> float:
    """Estimate the duration, in s."""
    return len(bench.browsers) * len(bench.pages) * (START_S + len(ARMS) * LOAD_S)


def measure(bench: GatewayBench) -> list[BenchPart]:
    """Load every page in every browser, once by each arm."""
    part = BenchPart(
        "corpus",
        f"Pages through the gateway over {PROFILE}, one load each way",
        ["browser", "pages", "whole without", "of these whole through it", "on the resolver's connection", "verdict"],
    )
    for browser in bench.browsers:
        loaded = [_load(bench, page, browser) for page in bench.pages]
        _add_row(part, browser, loaded)
    return [part]


def _load(bench: GatewayBench, page: str, browser: str) -> PageLoadResults:
    bench.progress.step(f"{page} in {browser}", START_S + len(ARMS) * LOAD_S)
    try:
        return asyncio.run(_load_all(page, browser))
    except ResolabError as error:
        print(f"bench gateway: {page} in {browser}: {error}", flush=True)
        return PageLoadResults(page, browser, dict.fromkeys(ARMS, "instrument"), dict.fromkeys(ARMS, 0))


async def _load_all(page: str, browser: str) -> PageLoadResults:
    wanted = plan(page, PROFILE, browser)
    arms = {arm: one for one in wanted.conditions() if (arm := _arm(one))}
    async with PageLoadRunner(wanted, Corpus.from_project(), wanted.seed) as testbed:
        results = {arm: await testbed.run_trial(arms[arm], f"b000-t{i:03}") for i, arm in enumerate(ARMS)}
    return PageLoadResults(
        page,
        browser,
        {arm: _failure(result) for arm, result in results.items()},
        {arm: _count_given(result) for arm, result in results.items()},
    )


def _arm(condition: Condition) -> str | None:
    """Return the arm of a condition; None for other handshakes and for speculation, not loaded here."""
    if condition.requested_handshake_mode is not HandshakeMode.FULL or condition.speculation == "document":
        return None
    return str(condition.connection_sharing) if condition.resolver_path == "gateway" else "native"


def _failure(result: TrialResult) -> str | None:
    loads = [one for one in result.records if isinstance(one, PageLoadRecord) and one.measured]
    if not loads:
        return "no load"
    return None if loads[0].failure is None else f"{loads[0].failure}: {loads[0].failure_detail}"


def _count_given(result: TrialResult) -> int:
    given = (one for one in result.records if isinstance(one, EdgeRequestRecord))
    return len({(one.authority.partition(":")[0], one.path) for one in given})


def _add_row(part: BenchPart, browser: str, loaded: Sequence[PageLoadResults]) -> None:
    whole = [one for one in loaded if one.failures["native"] is None]
    good = {arm: [one for one in whole if one.failures[arm] is None] for arm in ARMS}
    for one in whole:
        for arm in ARMS[1:]:
            if one.failures[arm] is not None:
                part.remarks.append(f"{one.page} in {browser}, {arm}: {one.failures[arm]}")
    part.remarks += [
        f"{one.page} in {browser} is not whole without the gateway: {one.failures['native']}"
        for one in loaded
        if one not in whole
    ]
    # What the lab itself broke in says nothing of the page, and may be the gateway's doing.
    unknown = [one for one in loaded if "instrument" in one.failures.values()]
    met = whole and not unknown and all(len(found) == len(whole) for found in good.values())
    counts = [str(len(good[arm])) for arm in ARMS[1:]]
    part.add(
        [browser, str(len(loaded)), str(len(whole)), *counts, "met" if met else "MISSED"],
        [asdict(one) for one in loaded],
    )
