"""browsertime's loads are read as what they were, tools take turns, and a ratio holds the truth as often as it says."""

import asyncio
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benches.peers import browsertime, measure, table
from benches.peers.browsertime_result import PeerLoad, parse
from benches.peers.comparison import Loads, ratio
from benches.peers.measure import ToolLoad, ToolsCell, rounds
from resolab.basics.errors import MachineError
from resolab.basics.records import PageFailure, PageLoadRecord
from resolab.plan import Corpus
from resolab.trials.trial_result import TrialResult

SEEN = {
    "plt_ms": 193.8,
    "response_start_ms": 89.1,
    "domain_lookup_ms": 16.2,
    "http_version": "h2",
    "request_count": 5,
}


def result(*seen, errors=()):
    scripts = [{"pageinfo": {}, "custom": {} if one is None else {"load": one}} for one in seen]
    return json.dumps([{"info": {}, "browserScripts": scripts, "errors": [list(errors)]}])


def test_each_iteration_is_a_load_with_its_times():
    found = parse(result(SEEN, SEEN | {"plt_ms": 201.5}), 2, 5)
    assert found == [PeerLoad(193.8, 89.1, None), PeerLoad(201.5, 89.1, None)]


@pytest.mark.parametrize(
    ("changed", "failure"),
    [
        ({"http_version": "h3"}, "over h3"),
        ({"http_version": ""}, "over an unknown version"),
        ({"domain_lookup_ms": 0}, "no look-up"),
        ({"request_count": 4}, "4 of 5 requests"),
        ({"plt_ms": 0}, "no load event"),
        ({"response_start_ms": 0}, "no first byte"),
    ],
)
def test_a_load_that_was_not_what_was_asked_for_has_failed_and_has_no_times(changed, failure):
    assert parse(result(SEEN | changed), 1, 5) == [PeerLoad(None, None, failure)]


def test_a_load_without_a_word_has_failed():
    assert parse(result(None), 1, None) == [PeerLoad(None, None, "no times")]
    found = parse(result(SEEN, errors=["UrlLoadError"]), 2, None)
    assert [one.failure for one in found] == [None, "UrlLoadError"]


def test_the_script_opens_with_its_function_for_browsertime_puts_return_before_it():
    assert browsertime.SCRIPT.read_text("utf-8").startswith("(function")
    assert all(f"{name}:" in browsertime.SCRIPT.read_text("utf-8") for name in SEEN)


def test_browsertime_checks_certificates_and_asks_only_for_the_labs_names(monkeypatch, tmp_path):
    monkeypatch.setattr(browsertime, "find_chromium", lambda: tmp_path / "chromium")
    peer = browsertime.Peer("node", "driver", 1, None, short_waits=False)
    command = peer.command("https://a.resolab.test/", 3, tmp_path)
    assert "--chrome.ignoreCertificateErrors=false" in command  # its default is true
    assert "--chrome.args=host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE *.test" in command
    assert command[command.index("--iterations") + 1] == "3"
    assert "--pageCompleteCheckStartWait" not in command
    assert "--pageCompleteCheckStartWait" in browsertime.waits(short=True)


def test_tools_take_turns_in_going_first_and_every_load_is_in_a_round():
    found = rounds(12, 5)
    assert [size for size, _ in found] == [5, 5, 2]
    assert [tools[0] for _, tools in found] == ["browsertime", "resolab", "browsertime"]
    assert all(sorted(tools) == sorted(measure.TOOLS) for _, tools in found)


def test_the_plan_has_one_condition_for_each_cell():
    plan = measure.plan_of(("example", "wikipedia"), ("fiber", "4g"), 20, Corpus.from_project())
    cells = [(one.page, one.profile) for one in plan.conditions()]
    assert sorted(cells) == [("example", "4g"), ("example", "fiber"), ("wikipedia", "4g"), ("wikipedia", "fiber")]
    assert {(str(one.http_version), str(one.dns_transport), str(one.resolver_path)) for one in plan.conditions()} == {
        ("h2", "doudp", "native")
    }


def spread(sd, mean=100.0, seconds=1.0):
    """Twelve loads, two a round, with just this sd and mean."""
    values = np.tile([-1.0, 1.0], 6)
    return Loads.from_sequences(mean + sd * values / values.std(ddof=1), [seconds] * 12, np.arange(12) // 2)


def test_loads_go_as_the_variance_and_time_also_as_the_seconds():
    wide, narrow = spread(30.0, mean=200.0, seconds=8.0), spread(10.0, seconds=0.5)
    assert ratio(wide, narrow, timed=False, relative=False).estimate == pytest.approx(9.0)
    assert ratio(wide, narrow, timed=True, relative=False).estimate == pytest.approx(9.0 * 16)
    assert ratio(wide, narrow, timed=False, relative=True).estimate == pytest.approx(9.0 / 4)
    assert ratio(wide, narrow, timed=True, relative=True).estimate == pytest.approx(9.0 / 4 * 16)


def test_no_spread_gives_no_ratio():
    for none in (
        Loads.from_sequences([5.0] * 20, [1.0] * 20, range(20)),
        Loads.from_sequences([], [], []),
        Loads.from_sequences([5.0], [1.0], [0]),
    ):
        assert ratio(none, spread(1.0), timed=True, relative=False) is None
    with pytest.raises(ValueError, match="every load"):
        Loads.from_sequences([1.0], [], [0])


def in_rounds(values, rounds_count):
    """Loads that took a second each, as many in every round."""
    return Loads.from_sequences(values, [1.0] * len(values), np.arange(len(values)) * rounds_count // len(values))


def test_few_rounds_give_no_interval_however_many_loads_they_have_but_what_hangs_on_one_of_them():
    rng = np.random.default_rng(7)
    one, other = (in_rounds(rng.normal(140, sd, 140), 7) for sd in (20, 10))
    made = ratio(one, other, timed=True, relative=False)
    assert (made.low, made.high) == (None, None)
    without = [
        kept[0].var(ddof=1) / kept[1].var(ddof=1)
        for number in range(7)
        for kept in [[loads.values[loads.turns != number] for loads in (one, other)]]
    ]
    assert (made.least, made.most) == pytest.approx((min(without), max(without)))
    assert made.text() == f"{made.estimate:.3g} ({min(without):.3g}..{max(without):.3g})"
    assert ratio(in_rounds(one.values, 8), in_rounds(other.values, 8), timed=True, relative=False).low is not None


def test_of_one_round_only_the_ratio_is_said():
    made = ratio(in_rounds([1.0, 2.0, 4.0], 1), in_rounds([1.0, 2.0, 3.0], 1), timed=False, relative=True)
    assert made.text() == f"{made.estimate:.3g}"


def alike_in_rounds(rng, mean, sd):
    """Twelve rounds of five loads that share 0.6 of their variance."""
    of_round, of_load = rng.normal(size=12).repeat(5), rng.normal(size=60)
    return mean + sd * (np.sqrt(0.6) * of_round + np.sqrt(0.4) * of_load)


@pytest.mark.parametrize("relative", [False, True])
def test_the_interval_holds_the_truth_about_as_often_as_it_says_also_where_loads_of_a_round_are_alike(
    monkeypatch, relative
):
    monkeypatch.setattr("benches.peers.comparison.RESAMPLES_COUNT", 399)
    rng, rounds_of_loads = np.random.default_rng(7), np.arange(60) // 5
    held = 0
    for seed in range(200):
        one = Loads.from_sequences(alike_in_rounds(rng, 140, 20), rng.normal(8, 0.5, 60), rounds_of_loads)
        other = Loads.from_sequences(alike_in_rounds(rng, 140, 10), rng.normal(0.5, 0.05, 60), rounds_of_loads)
        made = ratio(one, other, timed=True, relative=relative, seed=seed)
        held += made.low <= 64 <= made.high
    assert 176 <= held <= 199  # nominal 190; 153 and 156 if loads counted as independent


def test_tables_leave_failed_loads_out_and_count_them():
    cell = ToolsCell("example", "4g", load_average=(0.5, 0.75))
    cell.loads["browsertime"] = [ToolLoad(n, 8.0, 200.0 + n, 90.0, None) for n in range(12)] + [
        ToolLoad(12, 9.0, None, None, "over h3")
    ]
    cell.loads["resolab"] = [ToolLoad(n, 0.5, 150.0 + n / 2, 80.0 + n, None) for n in range(12)]
    shown = table.loads([cell], 1.5)
    assert shown.rows[0][3:8] == ["13 (1 failed)", "13", "8.08", "205.5", "3.61"]
    assert shown.rows[1][3:8] == ["12", "12", "0.50", "152.8", "1.80"]
    assert shown.remarks[-1] == "browsertime failed 1 times: over h3"
    ratios = table.ratios([cell])
    by_plt, by_first_byte = ratios.rows
    assert by_plt[3].startswith("4 [")
    assert by_plt[5].startswith("64 [")
    assert by_plt[-1] == "0.50 to 0.75"
    assert by_first_byte[3] == ""  # browsertime's first bytes have no spread here
    assert any("no interval" in remark for remark in ratios.remarks)


def test_the_usual_four_rounds_show_no_interval():
    cell = ToolsCell("example", "4g")
    for tool, sd in (("browsertime", 2.0), ("resolab", 1.0)):
        cell.loads[tool] = [ToolLoad(n // 5, 1.0, 200.0 + sd * (n % 7), 90.0 + sd * (n % 3), None) for n in range(20)]
    for row in table.ratios([cell]).rows:
        assert all("[" not in text and ".." in text for text in row[3:7])


def trial(**changed):
    """Make a trial's result: a warm-up, then the measured load."""
    common = {
        "url": "https://a.resolab.test/", "browser": "chromium", "browser_version": "1",
        "requested_handshake_mode": "full", "limit_ms": 30_000.0,
    }  # fmt: skip
    good = {
        "plt_ms": 150.0, "response_start_ms": 80.0, "domain_lookup_start_ms": 2.0, "domain_lookup_end_ms": 18.0,
        "next_hop_protocol": "h2", "request_count": 5,
    }  # fmt: skip
    warmup = PageLoadRecord(**common, measured=False, plt_ms=999.0, response_start_ms=999.0)
    return TrialResult([warmup, PageLoadRecord(**common, measured=True, **(good | changed))], [], failed=False)


def test_of_a_trial_the_measured_load_is_read():
    assert measure.read(trial(), 0.6, 3, 5) == ToolLoad(3, 0.6, 150.0, 80.0, None)


@pytest.mark.parametrize(
    ("of_resolab", "of_browsertime", "failure"),
    [
        ({"next_hop_protocol": "h3"}, {"http_version": "h3"}, "over h3"),
        ({"next_hop_protocol": None}, {"http_version": ""}, "over an unknown version"),
        ({"domain_lookup_end_ms": 2.0}, {"domain_lookup_ms": 0}, "no look-up"),
        ({"domain_lookup_start_ms": None, "domain_lookup_end_ms": None}, {"domain_lookup_ms": 0}, "no look-up"),
        ({"request_count": 4}, {"request_count": 4}, "4 of 5 requests"),
        ({"plt_ms": None}, {"plt_ms": 0}, "no load event"),
        ({"response_start_ms": None}, {"response_start_ms": 0}, "no first byte"),
    ],
)
def test_both_tools_are_held_to_one_rule(of_resolab, of_browsertime, failure):
    assert measure.read(trial(**of_resolab), 0.6, 3, 5) == ToolLoad(3, 0.6, None, None, failure)
    assert parse(result(SEEN | of_browsertime), 1, 5) == [PeerLoad(None, None, failure)]


def test_what_only_the_edge_knows_takes_no_load_from_one_side():
    assert measure.read(trial(failure=PageFailure.INCOMPLETE), 0.6, 3, 5).failure is None
    assert measure.read(trial(failure=PageFailure.LAB_ENDED), 0.6, 3, 5).failure == "lab_ended"


class Pretended:
    """Path, testbed and browsertime in one, noting what is asked of it."""

    def __init__(self):
        self.asked = []
        self.path = self

    async def set_profile(self, profile, seed):
        self.asked.append(("profile", profile.up.one_way_delay_ms))

    async def run_trial(self, condition, trial_id):
        self.asked.append(("resolab", condition.page))
        return trial()

    async def loads(self, site, count):
        self.asked.append(("browsertime", site.page, count))
        return [PeerLoad(200.0, 90.0, None)] * count, 8.0 * count


def test_every_cell_has_all_loads_of_both_in_turn_over_its_own_profile():
    corpus, lab = Corpus.from_project(), Pretended()
    plan = measure.plan_of(("example",), ("fiber", "4g"), 3, corpus)
    steps = []
    whole = measure.Lab(lab, lab, plan, corpus, 1.0)
    cells = asyncio.run(measure.measure(whole, 3, 2, lambda *step: steps.append(step[1:])))
    assert [(one.page, one.profile) for one in cells] == [("example", "fiber"), ("example", "4g")]
    for cell in cells:
        assert [one.seconds for one in cell.loads["browsertime"]] == [8.0] * 3
        assert [one.plt_ms for one in cell.loads["resolab"]] == [150.0] * 3
        assert [[one.turn for one in loads] for loads in cell.loads.values()] == [[0, 0, 1]] * 2
    ones = ("browsertime", 1), ("resolab", 1)
    assert steps[:6] == [*ones, ("browsertime", 2), ("resolab", 2), ("resolab", 1), ("browsertime", 1)]
    delays = [asked[1] for asked in lab.asked if asked[0] == "profile"]
    expected = [corpus.profile(name).up.one_way_delay_ms for name in ("fiber", "4g")]
    assert delays == [delay for delay in expected for _ in range(3)]


def stand_in(monkeypatch, tmp_path, program):
    """A peer whose browsertime is a line of Python; its result's folder is its first argument."""
    home = SimpleNamespace(folder=tmp_path, temporary_folder=tmp_path)
    peer = browsertime.Peer("node", "driver", 1, home, short_waits=False)
    monkeypatch.setattr(browsertime.Peer, "_prefix", lambda _: [])
    monkeypatch.setattr(browsertime.Peer, "command", lambda _, url, count, to: [sys.executable, "-c", program, str(to)])
    return peer.loads(SimpleNamespace(url="https://a.resolab.test/", request_count=5), 1)


def test_a_run_is_timed_and_its_result_is_read_in_its_own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    lines = [
        "import os, sys, time; time.sleep(0.2)",
        f"assert os.environ['HOME'] == {str(tmp_path)!r} and 'XDG_CONFIG_HOME' not in os.environ",
        f"open(sys.argv[1] + '/browsertime.json', 'w').write({result(SEEN)!r})",
    ]
    found, seconds = asyncio.run(stand_in(monkeypatch, tmp_path, "\n".join(lines)))
    assert found == [PeerLoad(193.8, 89.1, None)]
    assert seconds >= 0.2


def test_a_run_without_a_result_is_an_error_with_its_last_words(monkeypatch, tmp_path):
    with pytest.raises(MachineError, match="no browser here"):
        asyncio.run(stand_in(monkeypatch, tmp_path, "print('no browser here')"))


def test_a_run_that_hangs_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(browsertime, "LOAD_TIMEOUT_S", 0.3)
    with pytest.raises(MachineError, match="did not end"):
        asyncio.run(stand_in(monkeypatch, tmp_path, "import time; time.sleep(60)"))
