"""Killed at any moment and resumed, a campaign leaves what it would have left unkilled; a signal lets its trial end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from resolab.store import Manifest, RunStatus, StopReason, load_manifest

PROGRAM = Path(__file__).with_name("killable.py")
KILLS_COUNT = 50
CLOCKS = {"monotonic_ns", "wall_time_unix_ns", "load_average_1min"}
PLAN = """
name = "killed"
question = "Is anything lost?"
seed = 11
blocks = 60
[instrument]
paths = {paths}
[factors]
page = ["example"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
[[repeat]]
dns_transport = ["doudp"]
requested_handshake_mode = ["full"]
[stop]
ci_width_ms = 10.0
min_blocks = 24
check_every_blocks = 4
"""


DECIDING = """
rule = "confidence_sequence"
ci_width_ms = 14.0
min_blocks = 9
check_every_blocks = 2
decided_by = ["width"]
"""
"""Of pairs that differ by up to 20 ms at random, some are as narrow as this sooner than others."""


def write_plan(folder: Path, paths: int, stop: str = "") -> Path:
    file = folder / f"killed-{paths}.toml"
    text = PLAN.replace("{paths}", str(paths))
    file.write_text(text[: text.index("[stop]")] + "[stop]" + stop if stop else text)
    return file


def started(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def output_of(*arguments: object) -> str:
    process = started(*arguments)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert errors == ""
    return output


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Every trial's records without its clocks."""
    assert {file.suffix for file in (folder / "trials").iterdir()} == {".jsonl"}
    return {
        file.stem: [
            {key: value for key, value in json.loads(line).items() if key not in CLOCKS}
            for line in file.read_text().splitlines()
        ]
        for file in sorted((folder / "trials").iterdir())
    }


def kept(manifest: Manifest) -> tuple[Any, ...]:
    return (
        manifest.status,
        manifest.stop_reason,
        manifest.blocks_finished_count,
        manifest.trials_finished_count,
        manifest.widths_reached,
        manifest.decisions,
        manifest.seed,
    )


@pytest.mark.parametrize("paths", [1, 2])
def test_fifty_kills_leave_row_for_row_what_an_unkilled_run_on_one_path_leaves(tmp_path: Path, paths: int) -> None:
    output_of("whole", write_plan(tmp_path, 1), tmp_path / "whole")
    states = json.loads(output_of("kills", write_plan(tmp_path, paths), tmp_path / "killed", KILLS_COUNT, 5))
    # All of them were killed while they had work to do, most of them amid a trial.
    assert sum(states.values()) == KILLS_COUNT
    assert not [state for state in states if state.startswith("ended")]
    assert states[f"within {paths} trials"] > KILLS_COUNT / 3
    # What was lost was in flight, one trial a path at the most.
    expected_states = {"before the manifest", "between trials", *(f"within {one + 1} trials" for one in range(paths))}
    assert set(states) <= expected_states
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    whole, killed = load_manifest(tmp_path / "whole"), load_manifest(tmp_path / "killed")
    assert kept(killed) == kept(whole)
    assert (whole.paths, killed.paths) == (1, paths)
    assert (whole.status, whole.stop_reason) == (RunStatus.FINISHED, StopReason.PRECISION)
    # It ended by its intervals, after whole blocks and long before the cap.
    assert whole.trials_finished_count == 10 * (whole.blocks_finished_count or 0)
    assert 24 <= (whole.blocks_finished_count or 0) < 60
    assert all((one.ci_width_ms or 99) <= 10 for one in whole.widths_reached)
    assert killed.resume_count > KILLS_COUNT / 2


def test_killed_while_conditions_are_dropped_it_leaves_the_same_trials(tmp_path: Path) -> None:
    output_of("whole", write_plan(tmp_path, 1, DECIDING), tmp_path / "whole")
    states = json.loads(output_of("kills", write_plan(tmp_path, 1, DECIDING), tmp_path / "killed", KILLS_COUNT, 6))
    assert states["within 1 trials"] > KILLS_COUNT / 3
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    whole, killed = load_manifest(tmp_path / "whole"), load_manifest(tmp_path / "killed")
    assert kept(killed) == kept(whole)
    ends = [one.after_blocks or 60 for one in whole.decisions]
    assert min(ends) < max(ends)
    # Not every block had every condition.
    assert whole.trials_finished_count < 10 * (whole.blocks_finished_count or 0)


@pytest.mark.parametrize(
    ("number", "paths", "said"),
    [
        (signal.SIGINT, 1, "stopping when this trial ends"),
        (signal.SIGTERM, 1, "stopping when this trial ends"),
        (signal.SIGINT, 2, "stopping when the trials in flight end"),
    ],
)
def test_a_signal_lets_what_is_in_flight_end_and_says_how_to_go_on(
    tmp_path: Path, number: signal.Signals, paths: int, said: str
) -> None:
    folder = tmp_path / "stopped"
    process = started("cli", write_plan(tmp_path, paths), folder)
    deadline = time.monotonic() + 300
    while len(in_flight := list(folder.glob("trials/*.partial"))) < paths:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert all(partial.with_suffix("").exists() for partial in in_flight)
    assert not list(folder.glob("trials/*.partial"))
    manifest = load_manifest(folder)
    assert (manifest.status, manifest.stop_reason) == (RunStatus.INTERRUPTED, StopReason.INTERRUPTED)
    assert manifest.trials_finished_count == len(list(folder.glob("trials/*.jsonl")))
    assert said in errors
    assert f"resolab resume {folder}" in errors.replace("\n", "")
