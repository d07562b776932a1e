"""The sources of the spread of a condition's page load times, by Chromium's own trace.

For: loads as in a trial, one after the other, each traced. The marks of a load divide the load time into spans. In each
span the page's main thread runs on a processor, is in a task without a processor, or is idle. A task without a
processor waits for a processor or for another process. Every part has its median, its standard deviation, and its share
in the variance of the load time, cov(part, plt) / var(plt). The shares add up to 1. Not for: load times for quoting
(tracing costs some); a browser's waits for the network.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from resolab.basics.records import PageLoadRecord
from resolab.browser import Chromium
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.draft import PlanDraft, plan_text
from resolab.trials.page_load.runner import PageLoadRunner

CATEGORIES = [
    "blink.user_timing",
    "toplevel",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
]
MARKS = ("navigationStart", "responseStart", "responseEnd", "domInteractive", "loadEventStart")
"""The marks of Navigation Timing; the load time ends with the last."""
TASKS = ("RunTask", "ThreadControllerImpl::RunTask")
PARTS = ("in a task, on a processor", "in a task, not on one", "nothing to do")
NAME = "browser-noise"


@dataclass(frozen=True)
class Task:
    """A task run by a thread without a break; in microseconds."""

    began_us: int
    ended_us: int
    processor_us: int


@dataclass(frozen=True)
class TracedLoad:
    """A load with its marks and its main thread's tasks."""

    marks_us: dict[str, int]
    tasks: list[Task]

    def parts_ms(self) -> dict[tuple[str, str], float]:
        """Split each span between marks, by the mark at its end."""
        found: dict[tuple[str, str], float] = {}
        for since, until in itertools.pairwise(MARKS):
            began_us, ended_us = self.marks_us[since], self.marks_us[until]
            busy_us, processor_us = 0.0, 0.0
            for task in self.tasks:
                inside_us = min(task.ended_us, ended_us) - max(task.began_us, began_us)
                if inside_us > 0:
                    busy_us += inside_us
                    whole_us = max(task.ended_us - task.began_us, 1)
                    processor_us += inside_us * min(task.processor_us / whole_us, 1.0)
            split_us = (processor_us, busy_us - processor_us, ended_us - began_us - busy_us)
            found |= {(until, part): us / 1000 for part, us in zip(PARTS, split_us, strict=True)}
        return found


def load_of(events: Sequence[dict[str, Any]], url: str, response_start_ms: float) -> TracedLoad | None:
    """Find the load of a document in a trace; return None with a missing mark.

    The trace lacks the mark `responseStart`; this mark is Navigation Timing's own, counted from the navigation's start.
    """
    starts = [
        one
        for one in events
        if one["name"] == "navigationStart" and one["args"].get("data", {}).get("documentLoaderURL") == url
    ]
    if not starts:
        return None
    start = min(starts, key=lambda one: one["ts"])
    thread, frame = (start["pid"], start["tid"]), start["args"].get("frame")
    marks_us = {MARKS[0]: start["ts"], MARKS[1]: start["ts"] + round(response_start_ms * 1000)}
    for one in sorted(events, key=lambda one: one["ts"]):
        # Pictures have documents of their own, and so has the blank page before.
        is_own = (one["pid"], one["tid"], one["args"].get("frame")) == (*thread, frame)
        if is_own and one["name"] in MARKS[2:] and one["ts"] >= marks_us[MARKS[1]]:
            marks_us.setdefault(one["name"], one["ts"])
    tasks = [
        Task(one["ts"], one["ts"] + one["dur"], one.get("tdur", one["dur"]))
        for one in events
        if one["name"] in TASKS and one.get("ph") == "X" and (one["pid"], one["tid"]) == thread
    ]
    return TracedLoad(marks_us, _outermost(tasks)) if set(MARKS) <= set(marks_us) else None


def _outermost(tasks: Sequence[Task]) -> list[Task]:
    """Leave out tasks inside others: both names may denote the same task, and a nested loop runs tasks in a task."""
    kept: list[Task] = []
    for one in sorted(tasks, key=lambda one: (one.began_us, -one.ended_us)):
        if not kept or one.began_us >= kept[-1].ended_us:
            kept.append(one)
    return kept


def rows(loads: Sequence[TracedLoad]) -> list[dict[str, Any]]:
    """Return each part's median, spread, and share in the load time's variance."""
    plts_ms = [(one.marks_us[MARKS[-1]] - one.marks_us[MARKS[0]]) / 1000 for one in loads]
    parts = [one.parts_ms() for one in loads]
    variance = statistics.variance(plts_ms)
    found = []
    for until, part in parts[0]:
        values = [one[until, part] for one in parts]
        share = statistics.covariance(values, plts_ms) / variance
        row = {"until": until, "part": part, "median_ms": statistics.median(values)}
        found.append({**row, "sd_ms": statistics.stdev(values), "share": share})
    whole = {"until": "all", "part": "plt", "median_ms": statistics.median(plts_ms)}
    return [*found, {**whole, "sd_ms": statistics.stdev(plts_ms), "share": 1.0}]


def plan_of(page: str, profile: str) -> Plan:
    """Make a plan of one condition."""
    levels = {
        "page": [page],
        "profile": [profile],
        "dns_transport": ["doudp"],
        "http_version": ["h3"],
        "requested_handshake_mode": ["full"],
    }
    draft = PlanDraft(NAME, "Where does the spread of load times lie?", 1, 1, levels, {})
    text = plan_text(draft, Path.cwd()) + "[instrument]\nkeep_awake = true\n"
    return parse_plan(text, NAME, Corpus.from_project())


async def measure(page: str, profile: str, count: int) -> list[TracedLoad]:
    """Load the page and trace each load."""
    plan = plan_of(page, profile)
    (condition,) = plan.conditions()
    loads: list[TracedLoad] = []
    async with PageLoadRunner(plan, Corpus.from_project(), plan.seed) as testbed:
        browser = await testbed.find_browser(condition)
        assert isinstance(browser, Chromium)  # the plan has no other
        tracing = browser.tracing()
        testbed.before_measured = partial(tracing.begin, CATEGORIES)
        for number in range(count):
            result = await testbed.run_trial(condition, f"b{number:03}-t000")
            events = await tracing.end()
            (measured,) = [one for one in result.records if isinstance(one, PageLoadRecord) and one.measured]
            first_ms = measured.response_start_ms if measured.failure is None else None
            found = None if first_ms is None else load_of(events, measured.url, first_ms)
            if found is None:
                print(f"load {number + 1}: {measured.failure or 'no marks in its trace'}", file=sys.stderr)
            else:
                loads.append(found)
    return loads


def main() -> int:
    """Measure and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", default="example", help="a name in pages/ (default: %(default)s)")
    parser.add_argument("--profile", default="fiber", help="a name in profiles/ (default: %(default)s)")
    parser.add_argument("--loads", type=int, default=40, metavar="N", help="(default: %(default)s; at least 3)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    asked = parser.parse_args()
    loads = asyncio.run(measure(asked.page, asked.profile, asked.loads))
    if len(loads) < 3:
        print("browser_noise: fewer than three loads to compare", file=sys.stderr)
        return 1
    found, load_average = rows(loads), os.getloadavg()[0]
    if asked.json:
        print(json.dumps({"page": asked.page, "profile": asked.profile, "loads": len(loads), "rows": found}))
        return 0
    print(f"{asked.page} over {asked.profile}, {len(loads)} loads, load average {load_average:.1f}")
    print("| until | main thread | median ms | sd ms | share of plt's variance |\n|---|---|---|---|---|")
    for row in found:
        numbers = f"{row['median_ms']:.1f} | {row['sd_ms']:.1f} | {row['share']:+.2f}"
        print(f"| {row['until']} | {row['part']} | {numbers} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
