"""In which order a testbed does what a trial is made of, with parts that only say what they were told."""

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from resolab import engine
from resolab.browser import LoadResult, Overhead, PageLoad
from resolab.plan import Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.records import TrialFlag
from resolab.testbed import Testbed
from resolab.testbed.between import Between
from resolab.testbed.kept import NOTHING_KEPT, Keeper


class Parts:
    """Path, edge and browsers in one, all of which live."""

    name, version, usable, process = "chromium", "1", True, SimpleNamespace(running=True)

    def __init__(self):
        self.told = []
        self.stub = None

    async def miss(self, names):
        assert not names

    async def set_profile(self, profile, seed, *, hold_schedule):
        self.told.append(("profile", profile.name, seed))

    async def load(self, request):
        self.told.append(("rehearsal",) if request.between is None else ("load",))
        measured = PageLoad(url=request.url, measured=True, limit_ms=1.0)
        return LoadResult(measured=measured, warmup=None, overhead=Overhead())

    async def get(self, way):
        return self

    async def put(self, what):
        pass

    async def flush(self):
        pass

    async def summary(self, label):
        pass

    def netlog_file(self, way):
        return None


@pytest.fixture
def lab(monkeypatch):
    parts = Parts()

    async def run_queries(*_, **__):
        parts.told.append(("exchanges",))
        return []

    monkeypatch.setattr(engine, "run_queries", run_queries)
    plan = load_plan(PROJECT_ROOT / "plans" / "quick.toml")
    testbed = Testbed(plan, Corpus.of_project(), 1)
    parts.ready = SimpleNamespace(pid=1)
    testbed.path = testbed._browsers = parts
    testbed.between = Between(1, Path("ca.pem"), lambda _record: None)
    testbed._in_force = SimpleNamespace(edge=parts, put=parts.put, miss=parts.miss)
    testbed._ca_file = "ca.pem"
    testbed._keeper = Keeper(NOTHING_KEPT, Path("/nowhere"))
    return testbed, parts, plan.conditions()[0]


def test_a_trials_losses_do_not_depend_on_whether_its_browser_is_new(lab):
    testbed, parts, condition = lab

    def run():
        parts.told.clear()
        result = asyncio.run(testbed.run_trial(condition, "b000-t001"))
        assert TrialFlag.PATH_SUMMARY_MISSING in result.flags
        return list(parts.told)

    new, old = run(), run()
    assert ("rehearsal",) in new
    assert ("rehearsal",) not in old
    # What the rehearsal took from the streams of losses is given back before anything is measured.
    since_rehearsal = list(itertools.dropwhile(lambda told: told != ("rehearsal",), new))[1:]
    assert since_rehearsal == old
    assert old[0][0] == "profile"
