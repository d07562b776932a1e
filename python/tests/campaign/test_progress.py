"""Progress says how many, how fast and when it will end, also where there is no terminal."""

import io

import pytest
from rich.console import Console

from resolab.campaign import progress
from resolab.campaign.interim_answer import InterimRow
from resolab.campaign.progress import CampaignProgress, duration_text
from resolab.stats import Sample, estimate_paired_difference


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.6, "1 min 00 s"),
        (425, "7 min 05 s"),
        (7_260, "2 h 01 min"),
        (47 * 3600, "47 h 00 min"),
        (926 * 3600, "38 d 14 h"),
    ],
)
def test_durations_read_well(seconds, text):
    assert duration_text(seconds) == text


def test_without_a_terminal_lines_are_written_now_and_then_and_at_the_end(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    output = io.StringIO()
    with CampaignProgress(20, 10, Console(file=output, force_terminal=False, width=200)) as shown:
        clock[0] += 100.0  # Setting up a testbed says nothing about the pace.
        shown.trials_begin()
        for trial in range(10):
            clock[0] += 5.0
            shown.trial_done(failed=trial == 0, flagged=False)
    lines = output.getvalue().splitlines()
    assert lines[0] == "17/20 trials, 720 loads/h, 1 failed, 0 flagged of the 7 since it went on, ETA 15 s"
    assert lines[-1].startswith("20/20 trials")
    assert len(lines) == 2


def test_a_stopping_rule_moves_the_estimated_end_and_says_how_far_it_is(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    output = io.StringIO()
    with CampaignProgress(100, 0, Console(file=output, force_terminal=False, width=200)) as shown:
        shown.trials_begin()
        shown.expect(30, "widest interval 14 ms of 10 ms asked (a)")
        clock[0] += 40.0
        shown.trial_done(failed=False, flagged=True)
    text = "1/100 trials, 90 loads/h, 0 failed, 1 flagged, ETA 19 min 20 s, widest interval 14 ms of 10 ms asked (a)"
    assert output.getvalue().strip() == text


ROWS = [
    InterimRow(
        "a.doq", "a.doudp", estimate_paired_difference(Sample.exact([110.0, 130.0]), Sample.exact([100.0, 100.0]))
    ),
    InterimRow(
        "a.doh", "a.doudp", estimate_paired_difference(Sample.exact([90.0, 90.0]), Sample.exact([100.0, 100.0]))
    ),
]


def test_the_first_answer_comes_once_where_there_is_no_terminal():
    output = io.StringIO()
    with CampaignProgress(20, 0, Console(file=output, force_terminal=False, width=200)) as shown:
        shown.answer("page load time", "ms", 1, [])
        shown.answer("page load time", "ms", 2, ROWS)
        shown.answer("page load time", "ms", 3, ROWS)
    assert output.getvalue().splitlines() == [
        "after 2 blocks, page load time: median paired difference, without intervals",
        "  a.doq  +20 ms  against a.doudp, n = 2",
        "  a.doh  -10 ms  against a.doudp, n = 2",
    ]


def test_a_terminal_shows_the_latest_answer_above_the_bar_and_nothing_of_it_at_the_end():
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=30)
    with CampaignProgress(20, 0, console) as shown:
        shown.answer("page load time", "ms", 2, ROWS)
        shown.answer("page load time", "ms", 3, ROWS)
        lines = [str(one) for one in shown._bar.get_renderables()]
    assert lines[0] == "after 3 blocks, page load time: median paired difference, without intervals"
    assert lines[1].startswith("  a.doq")
    assert len(list(shown._bar.get_renderables())) == 1
