"""Keeps a record of tests with a second attempt, and fails for a test with two such runs in ten.

Names come in on standard input, one per line; an empty input is a run without second attempts. Not for: running tests
(`scripts/test`), nor judging a test by one run (docs/decisions/0013).
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

KEPT_RUNS = 10
ALLOWED_RUNS = 1
"""The allowed number of kept runs with a second attempt of a test: more is a fault of test or program."""


def default_file() -> Path:
    """Return the file's path, common to all checkouts of a user, since a fresh clone has no memory."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "resolab" / "second-attempts.jsonl"


def remember(file: Path, names: Sequence[str], commit: str, date: str) -> list[str]:
    """Add a run to the file, keep the last ten, and return the names in too many of them."""
    runs = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    runs = [*runs, {"date": date, "commit": commit, "names": sorted(set(names))}][-KEPT_RUNS:]
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text("".join(json.dumps(run) + "\n" for run in runs))
    new.replace(file)
    counts = Counter(name for run in runs for name in run["names"])
    return sorted(name for name in runs[-1]["names"] if counts[name] > ALLOWED_RUNS)


def main() -> int:
    """Read the names, store the run, and print the repeated names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=default_file(), help="where runs are kept (%(default)s)")
    file = parser.parse_args().file
    names = [line.strip() for line in sys.stdin if line.strip()]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    again = remember(file, names, commit.stdout.strip(), datetime.now(UTC).isoformat(timespec="seconds"))
    if names:
        print("== passed only at the second attempt:", *names, sep="\n   ")
    if again:
        print(
            f"== more than once in the last {KEPT_RUNS} runs, so it is no accident (docs/decisions/0013):",
            *again,
            sep="\n   ",
        )
        print(f"   {file} says in which; mend the test or the program, then remove the file")
    return 1 if again else 0


if __name__ == "__main__":
    sys.exit(main())
