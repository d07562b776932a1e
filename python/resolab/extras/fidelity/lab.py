"""Load clones in a browser behind the emulated path, and collect the browser's and the edge's account of each load.

For: `page check`. Not for: measuring; the detailed instrumentation slows the browser (`campaign` measures).
"""

import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.records import BrowserKind, EdgeRequestRecord
from resolab.browser import ListeningRequest
from resolab.extras.fidelity.measures import Fidelity, measure_fidelity
from resolab.extras.fidelity.observed_load import BrowserAccount, read_account, read_edge_account
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.pages.file import read_model
from resolab.pages.model import PageModel
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.draft import PlanDraft, plan_text
from resolab.trials.page_load.runner import PageLoadRunner

LIMIT_BEYOND_S = 60.0
"""The limit of a clone's load beyond the page's own load time, in s."""


@dataclass(frozen=True, slots=True)
class CloneCheck:
    """One load of a clone, compared with its model."""

    fidelity: Fidelity
    starts: dict[int, float]
    """When each request began, by place."""
    failure: str | None
    """The reason of a failed load; `None` after a success."""


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The settings for loading clones."""

    browser: BrowserKind = BrowserKind.CHROMIUM
    http_version: str = "h2"
    profile: str = "fiber"
    loads: int = 1
    quiet_after_s: float = 2.5


async def check_clone(
    model_file: Path, settings: CheckSettings, say: Callable[[str], None] = lambda _line: None
) -> AsyncIterator[CloneCheck]:
    """Load the clone of a model, and yield one result per load."""
    model = read_model(model_file)
    plan = _plan(model_file, settings)
    corpus = Corpus.from_project(plan.own_pages)
    (condition,) = plan.conditions()
    until_s = max((one.start_ms for one in model.resources), default=0.0) / 1000
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:
        for number in range(1, settings.loads + 1):
            say(f"{model.name} in {settings.browser.value}, load {number} of {settings.loads}")
            asked = ListeningRequest(
                url=testbed.build_url(condition.page),
                timeout_s=until_s + LIMIT_BEYOND_S,
                quiet_after_s=_longest_gap_s(model) + settings.quiet_after_s,
            )
            told, records = await testbed.listen(condition, asked)
            got = read_edge_account(model, (one for one in records if isinstance(one, EdgeRequestRecord)))
            heard = read_account(model, read_browser_load(told)) if told.messages or told.rows else BrowserAccount()
            failure = told.failure and (told.failure_detail or told.failure.value)
            starts = {place: one.start_ms for place, one in heard.asked.items()}
            yield CloneCheck(measure_fidelity(model, settings.browser.value, heard, got), starts, failure)


def _longest_gap_s(model: PageModel) -> float:
    """Return the page's longest time without a request; its clone pauses equally long before its load is complete."""
    starts = sorted(one.start_ms for one in model.resources)
    return max((later - earlier for earlier, later in itertools.pairwise(starts)), default=0.0) / 1000


def _plan(model_file: Path, settings: CheckSettings) -> Plan:
    known = {file.resolve(): name for name, file in Corpus.from_project().models().items()}
    levels = {
        "page": [known.get(model_file.resolve(), str(model_file.resolve()))],
        "profile": [settings.profile],
        "dns_transport": ["doudp"],
        "http_version": [settings.http_version],
        "requested_handshake_mode": ["full"],
        "browser": [settings.browser.value],
    }
    draft = PlanDraft("check", "Does the clone do what the page did?", seed=1, blocks=1, levels=levels, paths={})
    return parse_plan(plan_text(draft, model_file.parent), str(model_file), Corpus.from_project())
