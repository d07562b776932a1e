"""A campaign's own process does not grow with its trials."""

import json
import subprocess
import sys
from pathlib import Path

WATCHED = Path(__file__).with_name("watched_memory.py")
PER_TRIAL_BYTES = 1000
"""The progress bar keeps some 250 for its pace, of its last thousand trials; one record kept takes more than this."""


def test_memory_is_flat_over_many_trials(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, WATCHED, tmp_path / "out"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    grown = json.loads(ended.stdout.splitlines()[-1])
    assert grown["per_trial_bytes"] < PER_TRIAL_BYTES, "\n".join(grown["most"])
