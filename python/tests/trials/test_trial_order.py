"""In which order a testbed does what a trial is made of, with parts that only say what they were told."""

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from resolab.basics.errors import MachineError
from resolab.basics.records import TrialFlag
from resolab.browser import LoadResult, Overhead, PageLoad
from resolab.lab import engine
from resolab.lab.artifacts import NOTHING_KEPT, TrialFileKeeper
from resolab.lab.client_program import ClientProgramSlot
from resolab.plan import Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.trials.page_load.runner import PageLoadRunner


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
    testbed = PageLoadRunner(plan, Corpus.from_project(), 1)
    parts.ready = SimpleNamespace(pid=1)
    testbed.lab.path = testbed._browsers = parts
    testbed.between = ClientProgramSlot(1, Path("ca.pem"), lambda _record: None)
    testbed.lab.edge_state = SimpleNamespace(edge=parts, put=parts.put, miss=parts.miss)
    testbed.lab.ca_file = "ca.pem"
    testbed.lab.keeper = TrialFileKeeper(NOTHING_KEPT, Path("/nowhere"))
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


@pytest.mark.parametrize(("breaks", "rehearsals"), [(1, 2), (2, 3)])
def test_a_browser_that_takes_the_place_of_one_that_broke_has_its_own_first_load(lab, breaks, rehearsals):
    testbed, parts, condition = lab
    left = iter(range(breaks))

    class Browser(Parts):
        def __init__(self):
            super().__init__()
            self.told = parts.told

        async def load(self, request):
            self.usable = next(left, None) is None
            return await super().load(request)

    standing = []

    async def get(_way):
        if not standing or not standing[-1].usable:
            standing.append(Browser())
        return standing[-1]

    parts.get = get
    asyncio.run(testbed.run_trial(condition, "b000-t001"))
    assert parts.told.count(("rehearsal",)) == rehearsals
    assert [one for one in parts.told if one in {("rehearsal",), ("load",)}][-1] == ("load",)
    assert set(testbed._rehearsed_browsers) == {standing[-1]}


def test_browsers_that_all_break_in_their_first_load_are_the_machines_trouble(lab):
    testbed, parts, condition = lab
    parts.usable = False
    with pytest.raises(MachineError, match="broke 3 times in its first load"):
        asyncio.run(testbed.run_trial(condition, "b000-t001"))
