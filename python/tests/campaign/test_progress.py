"""Progress says how many, how fast and when it will end, also where there is no terminal."""

import io

import pytest
from rich.console import Console

from resolab.campaign import progress
from resolab.campaign.progress import CampaignProgress, duration_text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (425, "7 min 05 s")])
def test_durations_read_well(seconds, text):
    assert duration_text(seconds) == text


def test_without_a_terminal_lines_are_written_now_and_then_and_at_the_end(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    output = io.StringIO()
    with CampaignProgress(20, 10, Console(file=output, force_terminal=False, width=200)) as shown:
        for trial in range(10):
            clock[0] += 5.0
            shown.trial_done(failed=trial == 0, flagged=False)
    lines = output.getvalue().splitlines()
    assert lines[0] == "17/20 trials, 720/h, 1 failed, 0 flagged, ETA 15 s"
    assert lines[-1].startswith("20/20 trials")
    assert len(lines) == 2
