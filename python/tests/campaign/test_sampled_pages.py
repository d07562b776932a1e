"""A campaign whose unit is the page: what it runs, stops by and says, whole or resumed. Trials only do as if."""

import io
import itertools
import re
from pathlib import Path
from typing import Self

import pytest
from rich.console import Console

from resolab.basics.errors import ResolabError
from resolab.basics.records import BrowserKind, PageLoadRecord, TrialRecord
from resolab.campaign import manifests, resume_campaign, run_campaign
from resolab.campaign.block_count_check import too_few_blocks
from resolab.campaign.expectation import PAGES_LOOKED_AT_COUNT, estimate_duration_s
from resolab.campaign.power import PowerAims, plan_power
from resolab.campaign.schedule import schedule
from resolab.plan import Condition, Corpus, Plan, page_order, parse_plan
from resolab.report import build_report
from resolab.store import RunStatus, StopReason, find_finished_trials, load_manifest, open_dataset, read_trial
from resolab.trials.trial_result import TrialResult

PAGES = ["flat-1", "flat-2", "flat-4", "flat-8", "flat-12", "chain-4", "names-4", "names-12", "example", "wikipedia"]
PLAN = f"""
name = "sampled"
question = "What is it over pages?"
seed = 5
[design]
unit = "page"
[factors]
page = {PAGES}
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h2"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
"""


@pytest.fixture(autouse=True)
def _without_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "1" for browser in BrowserKind})
    monkeypatch.setattr(manifests, "_core_version", lambda: "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def plan_of(more: str = "") -> Plan:
    return parse_plan(PLAN + more, "sampled.toml", None)


class Bed:
    """Pages differ by far more than transports do: only pairs within pages tell them apart."""

    begun: list[str]

    def __init__(self, *_: object) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        self.begun.append(trial_id)
        if len(self.begun) == self.fails_at:
            raise ResolabError("cut")
        return TrialResult([load_of(condition)], [], failed=False)

    fails_at = 0


def load_of(condition: Condition) -> PageLoadRecord:
    place = PAGES.index(condition.page) if condition.page in PAGES else 0
    plt_ms = 100.0 + 300.0 * place + (20.0 + 0.1 * place if condition.dns_transport == "doh" else 0.0)
    return PageLoadRecord(
        url="https://example.resolab.test/",
        browser="chromium",
        browser_version="1",
        measured=True,
        requested_handshake_mode=condition.requested_handshake_mode,
        plt_ms=plt_ms,
        limit_ms=30_000.0,
    )


def run(plan: Plan, folder: Path, fails_at: int = 0) -> list[str]:
    testbed = type("Here", (Bed,), {"begun": [], "fails_at": fails_at})
    run_campaign(plan, folder, Console(file=io.StringIO()), testbed)
    return testbed.begun


def conditions_of(folder: Path) -> list[tuple[int, str]]:
    heads = [next(iter(read_trial(file))) for file in find_finished_trials(folder).values()]
    return [(one.block, one.condition) for one in heads if isinstance(one, TrialRecord)]


def test_each_page_is_a_block_in_the_seeds_order(tmp_path: Path) -> None:
    plan = plan_of()
    begun = run(plan, tmp_path / "d")
    assert begun == [one.trial_id for one in schedule(plan, 5, 10)]
    manifest = load_manifest(tmp_path / "d")
    assert (manifest.blocks, manifest.trials_planned_count, manifest.trials_finished_count) == (10, 40, 40)
    assert manifest.blocks_finished_count == 10
    blocks = itertools.groupby(conditions_of(tmp_path / "d"), key=lambda one: one[0])
    pages = [{name.partition(".")[0] for _, name in trials} for _, trials in blocks]
    assert pages == [{page} for page in page_order(plan, 5)]


def test_a_run_that_was_cut_goes_on_with_the_same_pages(tmp_path: Path) -> None:
    plan = parse_plan(PLAN, "sampled.toml", Corpus.from_project())
    whole = tmp_path / "whole"
    run(plan, whole)
    cut = tmp_path / "cut"
    run(plan, cut)
    for file in [file for name, file in find_finished_trials(cut).items() if name > "b004-t002"]:
        file.unlink()
    testbed = type("Here", (Bed,), {"begun": []})
    resume_campaign(cut, Console(file=io.StringIO()), testbed)
    assert testbed.begun == [one.trial_id for one in schedule(plan, 5, 10) if one.trial_id > "b004-t002"]
    assert conditions_of(cut) == conditions_of(whole)
    assert load_manifest(cut).status is RunStatus.FINISHED


def test_a_resume_takes_the_pages_it_was_begun_with(tmp_path: Path) -> None:
    def put(name: str) -> None:
        model = (Corpus.from_project().root / "pages" / "names" / "flat-1.page.json").read_text()
        (tmp_path / "mine" / f"{name}.page.json").write_text(model.replace('"flat-1"', f'"{name}"'))

    (tmp_path / "mine").mkdir()
    put("own-1")
    put("own-2")
    text = PLAN.replace(str(PAGES), '["./mine/*.page.json"]')
    run(parse_plan(text, "sampled.toml", Corpus.from_project(), base=tmp_path), tmp_path / "d")
    begun = conditions_of(tmp_path / "d")
    put("own-3")  # The first in the order of three.
    (tmp_path / "d" / "trials" / "b001-t003.jsonl").unlink()
    testbed = type("Here", (Bed,), {"begun": []})
    resume_campaign(tmp_path / "d", Console(file=io.StringIO()), testbed)
    assert testbed.begun == ["b001-t003"]
    assert sorted(conditions_of(tmp_path / "d")) == sorted(begun)


def test_fewer_blocks_are_a_sample_and_more_are_rounds() -> None:
    of_four, of_all, twice = ([one.condition.page for one in schedule(plan_of(), 5, count)] for count in (4, 10, 20))
    assert of_four == of_all[:16]
    assert twice == of_all + of_all


def test_a_stopping_rule_looks_at_differences_over_pages(tmp_path: Path) -> None:
    run(plan_of("[stop]\nci_width_ms = 3\nmin_blocks = 6\n"), tmp_path / "width")
    manifest = load_manifest(tmp_path / "width")
    assert (manifest.stop_reason, manifest.blocks_finished_count) == (StopReason.PRECISION, 6)
    assert [one.treatment for one in manifest.widths_reached] == [
        "all-pages.fiber.doh.h2.full",
        "all-pages.4g.doh.h2.full",
    ]
    # Differences are 20 to 20.9 ms, pages 100 to 2,800 ms.
    assert all(one.ci_width_ms is not None and one.ci_width_ms < 1 for one in manifest.widths_reached)
    run(plan_of('[stop]\nrule = "confidence_sequence"\ncheck_every_blocks = 1\n'), tmp_path / "sequence")
    manifest = load_manifest(tmp_path / "sequence")
    assert (manifest.stop_reason, {one.after_blocks for one in manifest.decisions}) == (StopReason.DECIDED, {8})


def test_a_report_has_pairs_over_pages(tmp_path: Path) -> None:
    run(plan_of(), tmp_path / "d")
    text = build_report(tmp_path / "d").read_text()
    assert "Pages are what was sampled: 10 of them" in text
    assert re.search(r"all-pages on 4g \+20\.[45] ms", text)
    with open_dataset(tmp_path / "d") as pilot:
        power = plan_power(plan_of(), pilot, PowerAims(width_ms=5.0))
    assert [(one.pairs_count, one.difference_ms) for one in power.rows] == [(10, pytest.approx(20.45))] * 2


def test_what_is_too_few_counts_pages() -> None:
    assert (too_few_blocks(plan_of()), too_few_blocks(plan_of_blocks(8))) == (None, None)
    assert (too_few_blocks(plan_of_blocks(4)) or "").startswith("4 pages: too few to tell anything")
    assert "relative changes have none; those take 8 pages" in (too_few_blocks(plan_of_blocks(7)) or "")
    # Rounds make no pages.
    few = plan_of_blocks(30).source_text.replace(str(PAGES), str(PAGES[:3]))
    assert (too_few_blocks(parse_plan(few, "few.toml", None)) or "").startswith("3 pages")


def plan_of_blocks(blocks: int) -> Plan:
    return parse_plan(PLAN.replace("seed = 5", f"seed = 5\nblocks = {blocks}"), "sampled.toml", None)


def test_the_expected_duration_is_that_of_the_pages_that_are_loaded() -> None:
    corpus = Corpus.from_project()
    once, again = (estimate_duration_s(plan_of_blocks(blocks), corpus) for blocks in (10, 20))
    of_blocks = parse_plan(plan_of_blocks(1).source_text.replace('"page"\n', '"block"\n'), "p", None)
    assert once == pytest.approx(estimate_duration_s(of_blocks, corpus), rel=0.1)
    assert again == pytest.approx(2 * once, rel=0.05)


def test_of_very_many_pages_some_stand_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, plan = Corpus.from_project(), plan_of()
    assert PAGES_LOOKED_AT_COUNT < 100
    whole = estimate_duration_s(plan, corpus)
    monkeypatch.setattr("resolab.campaign.expectation.PAGES_LOOKED_AT_COUNT", 3)
    looked_at: list[str] = []
    folder = Corpus.page_folder
    monkeypatch.setattr(Corpus, "page_folder", lambda self, page: looked_at.append(page) or folder(self, page))
    some = estimate_duration_s(plan, corpus)
    assert set(looked_at) == set(page_order(plan, 5)[:3])
    assert 0.3 < some / whole < 3
