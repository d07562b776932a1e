"""A worker answers every line with one, keeps its testbed for a run, and ends as a campaign does."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pretended import KEEPING, PLAN, changed, programs_away, run_of  # noqa: F401 - a fixture by its name

from resolab.extras.fleet.agent.spool import Spool
from resolab.extras.fleet.job import FleetRun
from resolab.store import find_finished_trials, load_manifest

PROGRAM = Path(__file__).with_name("pretended.py")


class Child:
    """A worker process and what it said."""

    def __init__(self, folder: Path, trial_s: float = 0.0) -> None:
        self.spool, self.log = folder / "spool", folder / "log"
        self.log.touch()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, PROGRAM, "worker", str(trial_s)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, start_new_session=True,
            )  # fmt: skip

    def ask(self, run: FleetRun, block: int, vantage: str = "fra") -> None:
        file = Spool(self.spool).keep(run)
        self.line({"run": str(file), "spool": str(self.spool), "vantage": vantage, "block": block})

    def line(self, what: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def said(self, text: str) -> int:
        return self.log.read_text().count(text)

    def wait_for(self, text: str) -> None:
        with self.log.open() as log:
            seen = ""
            while text not in seen:
                assert self.process.poll() is None, seen
                seen += log.read()
                time.sleep(0.005)

    def dataset(self, run: FleetRun) -> Path:
        return Spool(self.spool).dataset(run.id)

    def end(self) -> int:
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    one = Child(tmp_path)
    yield one
    one.process.kill()
    one.process.communicate()


def test_block_after_block_on_one_testbed_until_the_input_ends(child: Child) -> None:
    run = run_of()
    for block in (0, 2):
        child.ask(run, block)
        assert child.answer() == {"done": block, "trials": 4}
    assert child.said("testbed begins") == 1
    other = changed(run, id="fleet-2")
    child.ask(other, 0)
    assert child.answer() == {"done": 0, "trials": 4}
    assert (child.said("testbed begins"), child.said("testbed ends")) == (2, 1)
    assert child.end() == 0
    assert child.said("testbed ends") == 2
    assert sorted(name[:4] for name in find_finished_trials(child.dataset(run))) == ["b000"] * 4 + ["b002"] * 4
    assert load_manifest(child.dataset(other)).fleet_run == "fleet-2"


def test_what_cannot_be_done_is_said_in_a_line_and_the_next_is_done(child: Child) -> None:
    run = run_of()
    child.line({"run": "/nowhere/run.json", "spool": str(child.spool), "vantage": "fra", "block": 1})
    assert child.answer().items() >= {"failed": 1, "kind": "storage"}.items()
    child.ask(run, 0, vantage="syd")
    answer = child.answer()
    assert answer["kind"] == "configuration"
    assert "is not for vantage point syd" in answer["problem"]
    child.ask(changed(run, id="fleet-2", plan_text=PLAN.replace('"example"', '"./shop"')), 0)
    assert "names the page ./shop" in child.answer()["problem"]
    build = '\n[browser.mine]\nkind = "chromium"\npath = "/bin/true"\n'
    child.ask(changed(run, id="fleet-3", plan_text=PLAN + build), 0)
    assert "names the browser mine" in child.answer()["problem"]
    software = '\n[software.mine]\ncommand = ["/bin/sh"]\nconfiguration = "/etc/shadow"\ntransports = ["dot"]\n'
    child.ask(changed(run, id="fleet-4", plan_text=PLAN + software), 0)
    assert "names the software mine" in child.answer()["problem"]
    child.line("nonsense")
    assert (child.answer()["failed"], child.process.poll()) == (None, None)
    child.ask(run, 0)
    assert child.answer() == {"done": 0, "trials": 4}


def test_on_another_ground_nothing_is_begun_and_nothing_is_written(child: Child) -> None:
    run = run_of()
    ground = msgspec.structs.replace(run.ground, git_commit="decade")
    for block in (0, 1):
        child.ask(changed(run, ground=ground), block)
        answer = child.answer()
        assert (answer["failed"], answer["kind"]) == (block, "configuration")
        assert "is for commit decade, here is c0ffee" in answer["problem"]
        assert not child.dataset(run).exists()
    child.ask(run, 0)
    assert child.answer() == {"done": 0, "trials": 4}
    before = (child.dataset(run) / "manifest.json").read_bytes()
    child.ask(changed(run, ground=ground), 1)
    assert child.answer()["kind"] == "configuration"
    assert (child.dataset(run) / "manifest.json").read_bytes() == before
    child.ask(run, 1)
    assert child.answer() == {"done": 1, "trials": 4}
    assert len(load_manifest(child.dataset(run)).starts) == 1


def test_a_testbed_that_fails_is_made_anew_and_then_given_up(child: Child) -> None:
    run = run_of()
    child.ask(run, 0)
    child.answer()
    broken = child.dataset(run).parent / "broken"
    broken.touch()
    child.ask(run, 1)
    assert child.answer() == {"failed": 1, "problem": "the browser is gone", "kind": "instrument"}
    assert child.said("testbed begins") == child.said("testbed ends") == 3
    broken.unlink()
    child.ask(run, 1)
    assert child.answer() == {"done": 1, "trials": 4}


def test_logs_of_browsers_end_with_their_block(child: Child) -> None:
    run = run_of(text=PLAN + KEEPING.replace("key_log", "netlog"))
    for block in (0, 1):
        child.ask(run, block)
        assert child.answer()["done"] == block
        assert child.said("testbed ends") == block + 1


def test_a_signal_lets_the_trial_end_and_what_ended_is_kept(tmp_path: Path) -> None:
    child, run = Child(tmp_path, trial_s=0.5), run_of()
    child.ask(run, 0)
    child.wait_for("trial b000-t001 begins")
    child.process.send_signal(signal.SIGTERM)
    answer = child.answer()
    assert (answer["failed"], answer["kind"]) == (0, "interrupted")
    assert child.end() == 0
    assert list(find_finished_trials(child.dataset(run))) == ["b000-t000", "b000-t001"]
    assert not list(child.dataset(run).glob("trials/*.partial"))
    assert child.said("testbed ends") == 1
    again = Child(tmp_path)
    again.ask(run, 0)
    assert again.answer() == {"done": 0, "trials": 4}
    assert again.end() == 0


def test_a_signal_while_nothing_runs_ends_it_at_once(child: Child) -> None:
    child.ask(run_of(), 0)
    child.answer()
    child.process.terminate()
    assert child.process.wait(timeout=60) == 0
    assert child.said("testbed ends") == 1


def test_a_second_signal_abandons_the_trial(tmp_path: Path) -> None:
    child, run = Child(tmp_path, trial_s=600.0), run_of()
    child.ask(run, 0)
    child.wait_for("trial b000-t000 begins")
    child.process.terminate()
    child.wait_for("stopping")
    child.process.terminate()
    assert child.answer()["kind"] == "interrupted"
    assert child.end() == 0
    assert (child.said("testbed ends"), list(find_finished_trials(child.dataset(run)))) == (1, [])
