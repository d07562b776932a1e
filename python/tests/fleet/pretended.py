"""A run of a fleet whose trials only do as if: what they record depends on condition and identifier alone.

pretended.py worker [SECONDS]    a fleet's worker, each trial taking so long
"""

import asyncio
import functools
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from resolab.basics.errors import ResolabError
from resolab.basics.records import BrowserKind, PageLoadRecord
from resolab.campaign import manifests, provenance
from resolab.campaign.blocks.one_block import run_block
from resolab.extras.fleet.agent import worker
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.lab.artifacts import TrialFiles
from resolab.plan import Condition, Corpus, Plan, parse_plan
from resolab.store.files import write_private
from resolab.trials.trial_result import TrialResult

PLAN = """
name = "fleet"
question = "Is it the same everywhere?"
seed = 5
blocks = 9
[factors]
page = ["example"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
"""
KEEPING = "[instrument]\nkey_log = true\n"


class PretendedTestbed:
    """Says on standard error when it begins and ends."""

    def __init__(self, folder: Path, trial_s: float, keys: bool) -> None:
        self._folder, self._trial_s, self._keys = folder, trial_s, keys

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        sys.stderr.write(f"trial {trial_id} begins\n")
        sys.stderr.flush()
        await asyncio.sleep(self._trial_s)
        if (self._folder.parent / "broken").exists():
            raise ResolabError("the browser\nis gone")
        load = PageLoadRecord(
            url="https://example.resolab.test/", browser="chromium", browser_version="1", measured=True,
            requested_handshake_mode=condition.requested_handshake_mode,
            handshake_mode=condition.requested_handshake_mode, plt_ms=float(len(condition.id)), limit_ms=30_000.0,
        )  # fmt: skip
        file = None
        if self._keys:
            file = self._folder.resolve() / "key_logs" / f"{trial_id}.keys"
            file.parent.mkdir(exist_ok=True)
            write_private(file, trial_id.encode())
        return TrialResult([load], [], failed=False, files=TrialFiles(key_log_file=file))


@asynccontextmanager
async def stand_in(plan: Plan, seed: int, folder: Path, number: int, *, trial_s: float = 0.0) -> Any:
    sys.stderr.write("testbed begins\n")
    try:
        yield PretendedTestbed(folder, trial_s, plan.instrument.key_log)
    finally:
        sys.stderr.write("testbed ends\n")
        sys.stderr.flush()


def without_programs(patch: pytest.MonkeyPatch) -> None:
    """Neither browsers nor resolab-core take part."""
    patch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    patch.setattr(manifests, "_core_version", lambda: "1")
    patch.setattr(provenance, "_core_sha256", lambda: None)
    patch.setattr(provenance, "_commit", lambda: "c0ffee")


@pytest.fixture(autouse=True, scope="module")
def programs_away() -> Iterator[None]:
    """Import this into a test's module."""
    with pytest.MonkeyPatch.context() as patch:
        without_programs(patch)
        yield


def run_of(*vantages: str, blocks: int = 3, text: str = PLAN, seed: int = 11) -> FleetRun:
    plan = parse_plan(text, "fleet.toml", Corpus.from_project())
    now = provenance.describe_provenance(plan, Corpus.from_project(), manifests.versions_now(plan))
    return FleetRun(
        id="fleet-1", plan_name=plan.name, plan_text=text, seed=seed, blocks=blocks, ground=now,
        vantages=list(vantages or ("fra",)), created_unix_ns=1,
    )  # fmt: skip


def carry_out(run: FleetRun, vantage: str, block: int, spool: Path) -> Path:
    """Run a block as an agent's worker does; returns its dataset."""
    folder = spool / run.id / "dataset"
    run_block(read_vantage_plan(run, vantage), folder, Console(quiet=True), block, stand_in, fleet_run=run.id)
    return folder


def changed(run: FleetRun, **changes: object) -> FleetRun:
    return msgspec.structs.replace(run, **changes)


if __name__ == "__main__":
    without_programs(pytest.MonkeyPatch())
    worker.main(functools.partial(stand_in, trial_s=float(sys.argv[2]) if sys.argv[2:] else 0.0))
