"""Verdicts for people and pipelines: lines, Markdown of at most 60 lines, JSON, JUnit XML, and the exit code."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.campaign.checks.assumptions import Doubt, DoubtKind
from resolab.campaign.checks.decision import Verdict
from resolab.cli.main import main
from resolab.report.verdicts import forms
from resolab.report.verdicts.dataset_check import DatasetCheck, check_dataset
from resolab.store import build_tables

ARMS = 'treatment = { dns_transport = ["doq"] }\nbaseline = { dns_transport = "doudp", requested_handshake_mode = "full" }\n'
EXPECT = f"""
[[expect]]
name = "wide"
kind = "not_slower_than"
margin_ms = 100000
{ARMS}
[[expect]]
name = "impossible | never"
kind = "faster_by"
margin_ms = 100000
{ARMS}
[[expect]]
name = "nothing fails"
kind = "failures_at_most"
count = 0
{ARMS}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_expectations(make_dataset(tmp_path / "d"))


def with_expectations(folder: Path, more: str = EXPECT) -> Path:
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["plan_text"] += more
    file.write_text(json.dumps(manifest))
    return folder


def counts(check: DatasetCheck) -> dict[str, int]:
    return {str(one): check.count(one) for one in Verdict}


def test_each_comparison_of_an_expectation_has_a_verdict(folder: Path) -> None:
    check = check_dataset(folder)
    pairs = len({one.comparison.treatment.id for one in check.results})
    assert counts(check) == {"met": 2 * pairs, "not met": pairs, "undecided": 0}
    assert all(one.seconds > 0 for one in check.results)
    assert forms.lines(check)[-1].startswith(f"{3 * pairs} checks: {2 * pairs} met, {pairs} not met")


def test_junit_has_a_case_a_check_and_a_failure_for_what_is_not_met(folder: Path) -> None:
    check = check_dataset(folder)
    suite = ET.fromstring(forms.junit(check, undecided_fails=False))
    assert (suite.get("tests"), suite.get("errors")) == (str(len(check.results)), "0")
    assert len(suite.findall("testcase/failure")) == check.count(Verdict.NOT_MET) == int(suite.get("failures") or 0)
    without = ET.fromstring(forms.junit_without_verdict("p", "died \x07 of it"))
    assert without.get("errors") == "1"
    assert "no verdict: died" in str(without.find("testcase/error").get("message"))  # type: ignore[union-attr]


def test_markdown_is_short_and_begins_with_what_is_not_met(folder: Path) -> None:
    text = forms.markdown(check_dataset(folder))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[1].startswith("| not met | impossible \\| never")
    many = "".join(EXPECT.replace('name = "', f'name = "{number} ') for number in range(20))
    longer = forms.markdown(check_dataset(with_expectations(folder, many)))
    assert len(longer.splitlines()) <= forms.MARKDOWN_LINES_MAX_COUNT
    assert " more |" in longer


def test_exit_codes_and_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    xml, page = tmp_path / "v.xml", tmp_path / "v.md"
    assert main(["check", str(folder), "--junit", str(xml), "--markdown", str(page)]) == 1
    assert "not met" in capsys.readouterr().out
    assert xml.exists()
    assert page.exists()
    assert main(["check", str(folder), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["not_met"] == len([one for one in told["checks"] if one["verdict"] == "not_met"]) > 0


def test_undecided_passes_or_fails_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near = f'\n[[expect]]\nname = "near"\nkind = "equivalent_within"\nmargin_ms = 0.001\n{ARMS}'
    folder = with_expectations(make_dataset(tmp_path / "d", faults=Faults(trials_count=20)), near)
    assert main(["check", str(folder)]) == 0
    assert main(["check", str(folder), "--undecided", "fail"]) == 6
    capsys.readouterr()


def test_a_dataset_without_expectations_has_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, xml = make_dataset(tmp_path / "d"), tmp_path / "v.xml"
    assert main(["check", str(folder), "--junit", str(xml)]) == 3
    assert "expects nothing" in capsys.readouterr().err
    assert "no verdict" in xml.read_text()


def test_resume_judges_as_run_does(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", str(folder), "--check", "--json", "--junit", str(tmp_path / "v.xml")]) == 1
    assert json.loads(capsys.readouterr().out)["not_met"] > 0
    assert "not met" in (tmp_path / "v.xml").read_text()
    unexpecting = make_dataset(tmp_path / "nothing expected", faults=Faults(trials_count=3))
    assert main(["resume", str(unexpecting), "--check"]) == 3
    assert "expects nothing" in capsys.readouterr().err
    assert main(["resume", str(folder), "--json"]) == 2
    assert "--json is for --check" in capsys.readouterr().err


def slowed(folder: Path, *, percent: int) -> None:
    """Let some DoQ loads of a made-up dataset wait ten seconds."""
    for number, file in enumerate(sorted((folder / "trials").glob("*.jsonl"))):
        lines = file.read_text().splitlines()
        first = json.loads(lines[0])
        if ".doq." not in first["condition"] or number * 37 % 100 >= percent:
            continue
        changed = [json.loads(line) for line in lines]
        for one in changed:
            if one.get("plt_ms") is not None:
                one["plt_ms"] += 10_000
        file.write_text("".join(json.dumps(one) + "\n" for one in changed))


def test_the_medians_check_names_the_pairs_it_does_not_see(tmp_path: Path) -> None:
    plan = make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 40").replace('["fiber", "4g"]', '["fiber"]'))
    tail = f'[[expect]]\nname = "no tail"\nkind = "slow_share_at_most"\npercent = 3\nslow_ms = 5000\n{ARMS}'
    near = f'[[expect]]\nname = "near"\nkind = "not_slower_than"\nmargin_ms = 3000\n{ARMS}'
    folder = with_expectations(make_dataset(tmp_path / "d", plan), near + tail)
    slowed(folder, percent=20)
    check = check_dataset(folder)
    times = [one for one in check.results if one.expectation.name == "near"]
    assert {one.verdict for one in times} == {Verdict.MET}
    assert all(one.tail_counts[0] > 0 for one in times)
    assert all(f"{one.tail_counts[0]} pairs lie more than " in one.sentence for one in times)
    shares = [one for one in check.results if one.expectation.name == "no tail"]
    assert Verdict.NOT_MET in {one.verdict for one in shares}
    assert Verdict.MET not in {one.verdict for one in shares}


def test_each_verdict_names_level_looks_and_both_spreads(folder: Path) -> None:
    told = forms.as_json(check_dataset(folder))
    time = told["checks"][0]
    assert "] at 95%, bound 100000 ms, 6 blocks, 1 look; spread" in time["sentence"]
    assert "quiet machine: at most 21" in time["sentence"]
    assert (time["level"], time["looks_count"], time["reference_spread_ms"]) == (0.95, 1, 21.0)
    assert told["checks"][-1]["spread_ms"] is None
    assert told["checks"][-1]["reference_spread_ms"] is None
    assert "on fewer than 30 blocks" in told["warnings"][-1]


def test_late_trials_are_a_busy_machine_whatever_the_outcome(folder: Path) -> None:
    check = replace(check_dataset(folder), late_count=40, load_average=13.6)
    line = forms.lines(check)[0]
    assert line.startswith("warning: busy machine: ")
    assert f"40 of {check.trials_count} trials were late; load average 13.6 (median) on " in line
    assert "busy machine" not in forms.lines(replace(check, late_count=0, results=[]))[0]


def test_the_order_of_the_arms_is_the_order_of_their_beginnings(tmp_path: Path) -> None:
    folder = with_expectations(make_dataset(tmp_path / "d", make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 40"))))
    assert not any(doubt.kind is DoubtKind.ORDER for one in check_dataset(folder).results for doubt in one.doubts)
    for file in (folder / "trials").glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        # DoUDP, the baseline, always begins first, whatever the plan's order.
        begins = lines[0]["block"] * 1_000_000_000 + (0 if ".doudp." in lines[0]["condition"] else 1)
        lines[0]["monotonic_ns"] = begins
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    build_tables(folder)
    (line,) = [
        one for one in forms.lines(check_dataset(folder)) if "the treatment ran second in 40 of 40 blocks" in one
    ]
    assert line.startswith("warning: ")


def test_an_arm_always_second_is_said_first(folder: Path) -> None:
    doubt = Doubt(DoubtKind.ORDER, "the treatment ran second in 8 of 8 blocks")
    check = check_dataset(folder)
    doubted = replace(check, results=[replace(check.results[0], doubts=[doubt]), *check.results[1:]])
    line = forms.lines(doubted)[0]
    assert line.startswith(
        f"warning: 1 of {len(check.results)} checks: the treatment ran second in 8 of 8 blocks (wide"
    )


def test_equal_copies_give_the_false_alarms(tmp_path: Path) -> None:
    plan = make_plan(PLAN_TEXT + '[[repeat]]\ndns_transport = ["doudp"]\n')
    folder = with_expectations(make_dataset(tmp_path / "d", plan))
    check = check_dataset(folder)
    # Eight conditions with DoUDP; an expectation to be faster is not true for copies, and counts no false alarm.
    assert check.copies == {Verdict.MET: 8}
    assert "0 of 8 checks not met on equal copies" in "\n".join(forms.lines(check))
