#!/usr/bin/env python3
"""Kill a campaign with real browsers at random moments, resume it, and look for losses and remaining processes.

    .venv/bin/python scripts/kill_runs.py --out DIR [--plan FILE] [--blocks N] [--kills N] [--seed N]

The first run of resolab is killed (SIGKILL) some seconds after its start, and each `resume` likewise; the last `resume`
may finish. After each kill no process of the run and no network namespace of its path may be left. At the end the
trials' conditions and order must match the plan and seed, every block whole. Takes minutes, hence `scripts/test` leaves
the script out; has the requirements of `resolab run`. Exit code 0 if all checks passed, 1 if not.
"""

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from resolab.campaign.schedule import schedule
from resolab.plan import Corpus, parse_plan

ROOT = Path(__file__).resolve().parents[1]
MARK = "RESOLAB_KILL_RUNS"
GONE_WITHIN_S = 10.0


def main() -> int:
    """Kill and resume the campaign, and compare the result."""
    options = parse_arguments()
    chance = random.Random(options.seed)
    command = ["run", str(options.plan), "--out", str(options.out), "--blocks", str(options.blocks)]
    problems: list[str] = []
    for number in range(options.kills):
        began = (options.out / "manifest.json").exists()
        # The first kill comes while the testbed starts, the others some trials later.
        trials, wait_s = (chance.randint(1, options.most_trials) if number else 0), chance.uniform(0.5, 4.0)
        arguments = ["resume", str(options.out)] if began else command
        problems += run_and_kill(arguments, options.out, trials, wait_s, f"{os.getpid()}-{number}")
        done = len(list_finished(options.out))
        said = (
            f"kill {number + 1}, {wait_s:.1f} s after {trials} trials: {done} trials on disk, {len(problems)} problems"
        )
        print(said, flush=True)
    began = (options.out / "manifest.json").exists()
    last = subprocess.run(resolab(["resume", str(options.out)] if began else command), check=False)
    if last.returncode != 0:
        problems.append(f"the last resume ended with exit code {last.returncode}")
    problems += differences(options.out, options.blocks)
    for problem in problems:
        print(f"problem: {problem}")
    print(f"{options.kills} kills: {'nothing lost, nothing left running' if not problems else 'see above'}")
    return 1 if problems else 0


def parse_arguments() -> argparse.Namespace:
    """Read the command line's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", type=Path, default=ROOT / "plans" / "quick.toml")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-trials", type=int, default=5, help="between two kills")
    return parser.parse_args()


def resolab(arguments: list[str]) -> list[str]:
    """Build a command of this checkout."""
    return [sys.executable, "-m", "resolab", *arguments]


def list_finished(folder: Path) -> list[Path]:
    """List the files of finished trials."""
    return list(folder.glob("trials/*.jsonl"))


def run_and_kill(arguments: list[str], folder: Path, trials: int, wait_s: float, mark: str) -> list[str]:
    """Run resolab, kill the run a while after some trials, and list the surviving processes."""
    wanted = len(list_finished(folder)) + trials
    before = namespaces()
    environment = {**os.environ, MARK: mark, "PYTHONPATH": str(ROOT / "python")}
    process = subprocess.Popen(
        resolab(arguments), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    while len(list_finished(folder)) < wanted and process.poll() is None:
        time.sleep(0.05)
    time.sleep(wait_s)
    if process.poll() is not None:
        return [f"`resolab {' '.join(arguments)}` ended by itself with exit code {process.returncode}"]
    # Chromium writes over its environment, so that its processes are found as descendants.
    family = descendants(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + GONE_WITHIN_S
    while (left := {**list_marked_processes(mark), **alive(family)}) and time.monotonic() < deadline:
        time.sleep(0.1)
    problems = [f"process {pid} outlived the kill: {command}" for pid, command in left.items()]
    # Of other people's work beside this there may be namespaces, too; those of the path are held by marked processes.
    held = {namespace for pid in left for namespace in [namespace_of(pid)] if namespace} - before
    return problems + [f"network namespace {namespace} outlived the kill" for namespace in held]


def list_marked_processes(mark: str) -> dict[int, str]:
    """List processes with the mark in their environment: children inherit the mark."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120]
        except OSError:
            continue
    return found


def descendants(ancestor: int) -> dict[int, str]:
    """List a process's descendants with their start times; a start time reveals a reused process id."""
    parents = {pid: status[1] for pid, status in statuses().items()}
    found: dict[int, str] = {}
    for pid in parents:
        above = pid
        while above in parents and above != ancestor:
            above = int(parents[above])
        if above == ancestor and pid != ancestor:
            found[pid] = statuses().get(pid, ("", "", ""))[2]
    return found


def alive(family: dict[int, str]) -> dict[int, str]:
    """List the running processes of a family, without zombies."""
    now = statuses()
    return {
        pid: "a descendant"
        for pid, started in family.items()
        if pid in now and now[pid][2] == started != "" and now[pid][0] != "Z"
    }


def statuses() -> dict[int, tuple[str, str, str]]:
    """Read state, parent and start of every process (proc(5), /proc/PID/stat)."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(folder.name)] = (fields[0], fields[1], fields[19])
    return found


def namespaces() -> set[str]:
    """List the network namespaces of all processes."""
    numbers = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return {namespace for number in numbers for namespace in [namespace_of(number)] if namespace}


def namespace_of(pid: int) -> str | None:
    """Return the network namespace of a process."""
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return None


def differences(folder: Path, blocks: int) -> list[str]:
    """Compare the existing trials with the plan's schedule."""
    manifest = json.loads((folder / "manifest.json").read_text())
    plan = parse_plan(manifest["plan_text"], "plan.toml", Corpus.from_project())
    expected = [(one.trial_id, one.condition.id) for one in schedule(plan, manifest["seed"], blocks)]
    files = sorted((folder / "trials").iterdir())
    heads = [json.loads(file.read_text().partition("\n")[0]) for file in files if file.suffix == ".jsonl"]
    found = [(head["trial_id"], head["condition"]) for head in heads]
    problems = [f"{file.name} is left" for file in files if file.suffix != ".jsonl"]
    if found != expected:
        problems.append(f"{len(found)} trials are there, {len(expected)} were planned, or their order differs")
    return problems + ([] if is_in_order(heads, plan.instrument.paths) else ["trials did not run in their order"])


def is_in_order(heads: list[dict[str, int]], paths: int) -> bool:
    """Return True when trials began in order; with several paths, a kill may move a trial behind later ones."""
    if paths == 1:
        starts = [head["wall_time_unix_ns"] for head in heads]
        return starts == sorted(starts)
    starts_by_block: dict[int, list[int]] = {}
    for head in heads:
        starts_by_block.setdefault(head["block"], []).append(head["wall_time_unix_ns"])
    blocks = [starts_by_block[block] for block in sorted(starts_by_block)]
    return all(max(one) < min(following) for one, following in itertools.pairwise(blocks))


if __name__ == "__main__":
    sys.exit(main())
