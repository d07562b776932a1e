"""Runs with trials without measurements: each trial waits a given time and writes an ordinary record.

For: a fleet's handling of blocks, without browsers; `python -m benches.fleet.light SECONDS` is a fleet's worker for
these trials. Not for: real trials (tests/runs/test_fleet.py has two).
"""

import asyncio
import functools
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from resolab.basics.records import BrowserKind, PageLoadRecord
from resolab.campaign import manifests, provenance
from resolab.extras.fleet.agent import worker
from resolab.extras.fleet.job import FleetRun
from resolab.plan import Condition, Corpus, Plan, parse_plan
from resolab.store.manifest import ProcessStart
from resolab.trials.trial_result import TrialResult

TRIALS_A_BLOCK = 2
PLAN = """
name = "light"
question = "Is every block there once?"
seed = 5
blocks = {blocks}
[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
"""


class LightTestbed:
    """A testbed with waiting as its only work."""

    def __init__(self, trial_s: float) -> None:
        self._trial_s = trial_s

    async def run_trial(self, condition: Condition, _trial_id: str) -> TrialResult:
        """Wait, and report a loaded page."""
        if self._trial_s:
            await asyncio.sleep(self._trial_s)
        load = PageLoadRecord(
            url="https://example.resolab.test/",
            browser="chromium",
            browser_version="1",
            measured=True,
            requested_handshake_mode=condition.requested_handshake_mode,
            handshake_mode=condition.requested_handshake_mode,
            plt_ms=1.0,
            limit_ms=30_000.0,
        )
        return TrialResult([load], [], failed=False)


@asynccontextmanager
async def light_testbed(
    _plan: Plan, _seed: int, _folder: Path, _number: int, *, trial_s: float = 0.0
) -> AsyncIterator[LightTestbed]:
    """Make the testbed for light trials."""
    yield LightTestbed(trial_s)


def stub_versions() -> None:
    """Skip version queries of browsers and resolab-core in this process: neither takes part."""
    vars(manifests)["_VERSION_OF"] = {browser: lambda: "1" for browser in BrowserKind}
    vars(manifests)["_core_version"] = lambda: "1"
    vars(provenance)["_core_sha256"] = lambda: None
    vars(provenance)["_commit"] = lambda: "light"


def make_run_start(plan: Plan) -> ProcessStart:
    """Return the software and machine under the trials here."""
    corpus = Corpus.from_project()
    return provenance.describe_provenance(plan, corpus, manifests.versions_now(plan))


def light_run(name: str, vantages: Sequence[str], blocks: int, seed: int) -> FleetRun:
    """Make a run of light trials."""
    text = PLAN.format(blocks=blocks)
    plan = parse_plan(text, "light.toml", Corpus.from_project())
    return FleetRun(
        id=name,
        plan_name=plan.name,
        plan_text=text,
        seed=seed,
        blocks=blocks,
        ground=make_run_start(plan),
        vantages=list(vantages),
        created_unix_ns=time.time_ns(),
    )


if __name__ == "__main__":
    stub_versions()
    worker.main(functools.partial(light_testbed, trial_s=float(sys.argv[1])))
