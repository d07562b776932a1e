"""Verdicts between two datasets: the change of a difference from the same reference, and refusals."""

import json
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.campaign.checks.decision import Verdict
from resolab.cli.main import main
from resolab.report.verdicts.across_datasets import check_across
from resolab.store import build_tables

EXPECT = """
[[expect]]
name = "not grown"
kind = "not_slower_than"
margin_ms = 20
treatment = { dns_transport = ["doq"], requested_handshake_mode = ["full"] }
baseline = { dns_transport = "doudp", requested_handshake_mode = "full" }
"""
TEXT = (
    PLAN_TEXT.replace("blocks = 6", "blocks = 14")
    .replace('["fiber", "4g"]', '["fiber"]')
    .replace('["example", "wikipedia"]', '["example"]')
)


def made(
    folder: Path,
    *,
    all_ms: float = 0.0,
    doq_ms: float = 0.0,
    expect: str = EXPECT,
    noise: float = 0.0,
    **manifest: object,
) -> Path:
    """Make a dataset with slower loads: all of them, as on another day, and those with DoQ, as with another build.

    With `noise`, loads with DoQ move by that many milliseconds in turn, up and down.
    """
    make_dataset(folder, make_plan(TEXT + expect))
    for number, file in enumerate(sorted((folder / "trials").glob("*.jsonl"))):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        more_ms = all_ms + (doq_ms + noise * (number % 3 - 1) if ".doq." in lines[0]["condition"] else 0.0)
        for one in lines:
            if one.get("plt_ms") is not None:
                one["plt_ms"] += more_ms
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **manifest}))
    build_tables(folder)
    return folder


def test_another_day_changes_no_verdict_and_another_build_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made(tmp_path / "a")
    other_day, other_build = made(tmp_path / "b", all_ms=300), made(tmp_path / "c", all_ms=300, doq_ms=100)
    (result,) = check_across(first, other_day).results
    assert result.verdict is Verdict.MET
    assert result.estimate_ms == pytest.approx(0, abs=5)
    (result,) = check_across(first, other_build).results
    assert result.verdict is Verdict.NOT_MET
    assert "100.0 ms slower than in the first dataset [" in result.sentence
    assert main(["compare", str(first), str(other_build), "--check", "--junit", str(tmp_path / "v.xml")]) == 1
    assert "not met" in capsys.readouterr().out
    assert "<failure" in (tmp_path / "v.xml").read_text()


@pytest.mark.parametrize(("key", "value", "word"), [("paths", 2, "paths"), ("backend", "packet", "back end")])
def test_datasets_of_other_instruments_are_refused(tmp_path: Path, key: str, value: object, word: str) -> None:
    with pytest.raises(ConfigurationError, match=f"they differ in {word}; run old and new build in one plan"):
        check_across(made(tmp_path / "a"), made(tmp_path / "b", **{key: value}))


def test_margins_below_the_drift_of_days_need_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = made(tmp_path / "a")
    file = first / "manifest.json"
    file.write_text(file.read_text().replace("margin_ms = 20", "margin_ms = 2"))
    assert main(["compare", str(first), str(first), "--check"]) == 3
    assert "about 5 ms from day to day" in capsys.readouterr().err
    assert main(["compare", str(first), str(first), "--check", "--any-margin"]) == 0


def test_a_margin_in_percent_is_held_to_the_drift_of_days_too(tmp_path: Path) -> None:
    first = made(tmp_path / "a", expect=EXPECT.replace("margin_ms = 20", "margin_percent = 0.01"))
    with pytest.raises(ConfigurationError, match="about 5 ms from day to day"):
        check_across(first, first)
    assert check_across(first, first, any_margin=True).results


def test_a_noisier_build_gets_its_verdict_and_a_remark(tmp_path: Path) -> None:
    (result,) = check_across(made(tmp_path / "a"), made(tmp_path / "b", doq_ms=2000, noise=300)).results
    assert result.verdict is Verdict.NOT_MET
    assert "another machine or a noisier build; [[repeat]] tells them apart" in result.sentence


def test_checks_that_no_difference_judges_are_named(tmp_path: Path) -> None:
    failures = EXPECT.replace("not grown", "rarely fails").replace("not_slower_than", "failures_at_most")
    first = made(tmp_path / "a", expect=EXPECT + failures.replace("margin_ms = 20", "count = 0"))
    (note,) = check_across(first, first).notes
    assert note.startswith("not judged between datasets: rarely fails (not about times): ")


VERSIONS = {"resolab": "0.1.0", "resolab_core": "0.1.0", "browser": "chromium 156.0"}


def test_the_baselines_browser_is_the_same_and_the_treatments_may_differ(tmp_path: Path) -> None:
    first, other, own = (
        made(tmp_path / name, versions={**VERSIONS, "browsers": browsers})
        for name, browsers in (
            ("a", {"chromium": "156.0"}),
            ("b", {"chromium": "157.0"}),
            ("c", {"chromium": "156.0", "nightly": "158.0"}),
        )
    )
    with pytest.raises(ConfigurationError, match="they differ in the baseline's browser"):
        check_across(first, other)
    assert check_across(first, own).results


def test_the_baselines_software_is_the_same_program(tmp_path: Path) -> None:
    entry = {"program": "/usr/sbin/unbound", "program_sha256": "aa", "cache": "warm", "transports": ["doudp"]}

    def made_with(name: str, sha256: str, **more: object) -> Path:
        edge = {**entry, "program_sha256": sha256, "configuration": "server:", **more}
        return made(tmp_path / name, starts=[{"unix_ns": 1, "software": {"edge": edge}}])

    first = made_with("a", "aa")
    assert check_across(first, made_with("b", "aa")).results
    with pytest.raises(ConfigurationError, match="they differ in the baseline's software"):
        check_across(first, made_with("c", "bb"))
    with pytest.raises(ConfigurationError, match="they differ in the baseline's software"):
        check_across(first, made_with("d", "aa", command=["unbound", "-v"]))
