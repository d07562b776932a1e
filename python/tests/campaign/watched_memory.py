"""A campaign of pretended trials in a process of its own that says what its memory grew by: FOLDER.

For: `test_memory`. What other tests have left in their process is nobody's growth here.
"""

import gc
import io
import json
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

from killable import PretendedTestbed
from rich.console import Console

from resolab.basics.records import BrowserKind
from resolab.campaign import manifests, provenance, run_campaign
from resolab.plan import Condition, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.trials.trial_result import TrialResult

FIRST_COUNT, LAST_COUNT = 100, 500
SHOWN_COUNT = 10


class Watched(PretendedTestbed):
    """Looks at what memory is in use after some trials and after many more."""

    in_use: tuple[tracemalloc.Snapshot, ...] = ()
    trials_count = 0

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        self._trial_s = 0.0
        Watched.trials_count += 1
        if Watched.trials_count in (FIRST_COUNT, LAST_COUNT):
            gc.collect()
            Watched.in_use += (tracemalloc.take_snapshot(),)
        return await super().run_trial(condition, trial_id)


def main(folder: Path) -> None:
    # What a machine has is not asked for here.
    given: Any = {browser: lambda: "1" for browser in BrowserKind}
    manifests._VERSION_OF = given
    manifests._core_version = lambda: "1"
    provenance._core_sha256 = lambda: None
    plan = load_plan(PROJECT_ROOT / "plans" / "quick.toml")
    blocks = LAST_COUNT // len(plan.conditions()) + 1
    tracemalloc.start()
    run_campaign(replace(plan, blocks=blocks), folder, Console(file=io.StringIO()), Watched)
    first, last = Watched.in_use
    grown = last.compare_to(first, "lineno")
    per_trial_bytes = sum(one.size_diff for one in grown) / (LAST_COUNT - FIRST_COUNT)
    sys.stdout.write(
        json.dumps({"per_trial_bytes": per_trial_bytes, "most": [str(one) for one in grown[:SHOWN_COUNT]]}) + "\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
