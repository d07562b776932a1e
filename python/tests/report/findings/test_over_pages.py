"""What a report says where pages are what was sampled: pairs are pages, and a page's rounds are no further pairs."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import synthetic_dataset
from synthetic_dataset import PLAN_TEXT, RTT_MS, Faults, make_dataset, make_plan
from test_page_loads import load

from resolab.plan import Plan
from resolab.report import build_report
from resolab.report.findings.analysis import analyse
from resolab.report.findings.dataset_plan import read_plan
from resolab.report.findings.findings import Findings
from resolab.report.findings.page_loads import count_unpaired, pair_blocks, pair_samples, sample_by_block
from resolab.report.pages.compare.changes import compare_datasets
from resolab.report.parts.plain_answers import plain_answers
from resolab.report.sections.section import SectionContent
from resolab.stats import Method, estimate_paired_difference
from resolab.store import Dataset, build_tables, open_dataset
from resolab.store.outcomes import PLT
from resolab.store.rows import LoadRow

PAGES = [f"page{number}" for number in range(14)]


@pytest.fixture(autouse=True)
def _pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that differ by far more than conditions do."""
    monkeypatch.setattr(synthetic_dataset, "RENDER_MS", {page: 400.0 * place for place, page in enumerate(PAGES)})
    monkeypatch.setattr(synthetic_dataset, "ADDRESS", dict.fromkeys(PAGES, "10.77.1.1"))


def plan_with(blocks: int, more: str = "") -> Plan:
    text = PLAN_TEXT.replace('["example", "wikipedia"]', str(PAGES).replace("'", '"'))
    return make_plan(text.replace("blocks = 6", f"blocks = {blocks}") + f'[design]\nunit = "page"\n{more}')


def opened(folder: Path, plan: Plan, faults: Faults | None = None) -> Dataset:
    make_dataset(folder, plan, faults)
    build_tables(folder)
    return open_dataset(folder)


def findings_of(folder: Path, plan: Plan, faults: Faults | None = None) -> Findings:
    with opened(folder, plan, faults) as dataset:
        return analyse(dataset)


def test_pairs_of_a_comparison_are_pages(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "d", plan_with(14))
    assert len(found.plt.conditions) == 12
    assert len(found.plt.comparisons) == 10
    one = next(one for one in found.plt.comparisons if one.comparison.treatment.id == "all-pages.4g.doh.h3.full")
    assert (one.difference_ms.n, one.difference_ms.method) == (14, Method.ORDER_STATISTIC)
    # Two round trips more on every page, however the pages differ: the interval is not of the pages' times.
    assert one.difference_ms.ci_low is not None
    assert one.difference_ms.ci_low < 2 * RTT_MS["4g"] + 3
    assert (one.difference_ms.ci_width or 99) < 20
    assert all(result.trials_count == 14 for result in found.plt.conditions)
    assert "14 of them" in plain_answers(found)[-1]
    assert "several rounds" not in plain_answers(found)[-1]


def test_the_report_still_knows_each_page_for_the_paths_of_its_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_dataset(tmp_path / "d", plan_with(14))
    asked: list[set[str]] = []

    def note(_folder: object, _plan: object, pages: Iterable[str]) -> SectionContent:
        asked.append({*pages})
        return SectionContent([])

    monkeypatch.setattr("resolab.report.sections.paths.section.path_content", note)
    build_report(tmp_path / "d")
    assert asked == [{*PAGES}]


def test_failures_count_over_pages(tmp_path: Path) -> None:
    found = findings_of(tmp_path / "d", plan_with(14), Faults(timeouts=True))
    failed = {one.condition.id: one.failed_count for one in found.plt.conditions if one.failed_count}
    assert failed
    assert all(".doq." in name for name in failed)
    told = {one.condition: one.count for one in found.failures if one.kind == "page load"}
    assert told == failed
    doq = next(one for one in found.plt.comparisons if one.comparison.treatment.dns_transport == "doq")
    assert (doq.difference_ms.n, doq.difference_ms.ci_high) == (14, np.inf)


def test_a_second_round_gives_no_further_pairs_but_its_mean(tmp_path: Path) -> None:
    once, twice = (findings_of(tmp_path / str(blocks), plan_with(blocks)) for blocks in (14, 28))
    assert {one.difference_ms.n for one in twice.plt.comparisons} == {14}
    assert {one.median_ms.n for one in twice.plt.conditions} == {14}
    assert {one.trials_count for one in twice.plt.conditions} == {28}
    assert {one.slope.n for one in twice.slopes} <= {0, 14}
    for one, other in zip(once.plt.comparisons, twice.plt.comparisons, strict=True):
        # Means of two scatter less than one.
        assert one.difference_ms.value == pytest.approx(other.difference_ms.value, abs=12)
    assert "of a page that was loaded in several rounds the mean difference counts" in plain_answers(twice)[-1]


def test_the_mean_of_rounds_keeps_what_is_known_only_within_bounds() -> None:
    name = "all-pages.4g.doh.h3.full"
    loads = [load(0, name, 100.0), load(1, name, 50.0), load(0, name, 300.0), load(1, name, None, "page_timeout")]
    blocks, sample = sample_by_block(PLT, loads)
    assert blocks == [0, 1]
    assert sample.low.tolist() == [200.0, (50.0 + 30_000.0) / 2]
    assert sample.high.tolist() == [200.0, np.inf]
    other = [msgspec.structs.replace(one, block=one.block + 1) for one in loads[:2]]
    own, against = pair_samples(PLT, loads, other)
    assert (own.low.tolist(), against.low.tolist()) == ([(50.0 + 30_000.0) / 2], [100.0])


def of_rounds(page: int, name: str, *values: tuple[float | None, str | None]) -> list[LoadRow]:
    """Make a page's loads of one condition, a round each."""
    loads = [load(page, name, *value) for value in values]
    return [msgspec.structs.replace(one, round=number) for number, one in enumerate(loads)]


FIRST, LATER, LOST, LEFT_ALONE = (2_000.0, None), (1_000.0, None), (None, "browser_hang"), (None, "left_alone")


@pytest.mark.parametrize("missing", [LOST, LEFT_ALONE])
def test_only_rounds_that_both_conditions_have_are_compared(missing: tuple[None, str]) -> None:
    """The first round of a page is the slow one: without it one condition would look faster than the other."""
    treated, base = "all-pages.4g.doh.h3.full", "all-pages.4g.doudp.h3.full"
    own = [one for page in range(20) for one in of_rounds(page, treated, missing, LATER)]
    other = [one for page in range(20) for one in of_rounds(page, base, FIRST, LATER)]
    for sides in ((own, other), (other, own)):
        pair = pair_samples(PLT, *sides)
        assert [one.low.tolist() for one in pair] == [[1_000.0] * 20] * 2
        blocks, *samples = pair_blocks(PLT, *sides)
        assert (blocks, [one.low.tolist() for one in samples]) == ([*range(20)], [[1_000.0] * 20] * 2)
        assert count_unpaired(PLT, *sides) == 20
    assert estimate_paired_difference(*pair_samples(PLT, own, other)).value == 0
    # A page none of whose rounds has both is no pair.
    assert len(pair_samples(PLT, of_rounds(0, treated, LATER, LOST), of_rounds(0, base, LOST, LATER))[0]) == 0


def test_the_answer_counts_the_loads_without_a_counterpart(tmp_path: Path) -> None:
    whole, lossy = (
        findings_of(tmp_path / str(faults.lost), plan_with(28), faults) for faults in (Faults(), Faults(lost=True))
    )
    assert "leave out" not in plain_answers(whole)[-1]
    assert re.search(r"Comparisons leave out \d+ loads, each counted once a comparison", plain_answers(lossy)[-1])


def test_two_datasets_over_pages_are_compared_by_their_comparisons(tmp_path: Path) -> None:
    plan = plan_with(14)
    with opened(tmp_path / "a", plan) as first, opened(tmp_path / "b", replace(plan, seed=8)) as second:
        compared = compare_datasets(first, second)
    assert {one.condition.partition(".")[0] for one in compared.conditions} == {"all-pages"}
    assert len(compared.effects) == 10


def test_a_page_of_several_rounds_is_one_value_of_a_comparison_of_datasets(tmp_path: Path) -> None:
    plan = plan_with(28)
    with opened(tmp_path / "a", plan) as first, opened(tmp_path / "b", replace(plan, seed=8)) as second:
        compared = compare_datasets(first, second)
    for one in compared.conditions:
        assert one.loads_count == (28, 28)
        assert [each.n for each in one.median_ms] == [14, 14]
        assert one.shift_ms.n == 28


def test_of_rounds_those_without_any_end_are_left_out_and_not_the_page() -> None:
    treated, base = "all-pages.4g.doh.h3.full", "all-pages.4g.doudp.h3.full"

    def rounds(name: str, *values: float | None) -> list[LoadRow]:
        found = [load(3, name, value, None if value else "page_timeout") for value in values]
        return [msgspec.structs.replace(one, round=place) for place, one in enumerate(found)]

    own, other = rounds(treated, None, 500.0, None), rounds(base, 300.0, 100.0, None)
    pair = pair_samples(PLT, own, other, both_failed=False)
    assert [(one.low.tolist(), one.high.tolist()) for one in pair] == [([15_250.0], [np.inf]), ([200.0], [200.0])]
    # Each failed once, but never both of one round: the page is still there.
    crossed = pair_samples(PLT, rounds(treated, None, 500.0), rounds(base, 100.0, None), both_failed=False)
    assert len(crossed[0]) == 1
    assert len(pair_samples(PLT, rounds(treated, None), rounds(base, None), both_failed=False)[0]) == 0


def test_means_of_rounds_are_no_slow_loads(tmp_path: Path) -> None:
    plan = plan_with(28, "[limits]\npage_timeout_s = 5\n")
    found = findings_of(tmp_path / "d", plan, Faults(timeouts=True))
    assert found.slow_loads == []
    assert any(one.failed_count for one in found.plt.conditions)


def test_the_tables_and_other_plans_stay_as_they_were(tmp_path: Path) -> None:
    with opened(tmp_path / "d", plan_with(14)) as dataset:
        assert {row["condition"].partition(".")[0] for row in dataset.sql("SELECT condition FROM trials")} == {*PAGES}
        assert read_plan(dataset).factors.page == ("all-pages",)
        assert read_plan(dataset) == read_plan(dataset)
        assert {one.condition.partition(".")[0] for one in dataset.measured_loads()} == {"all-pages"}
        assert {one.page for one in dataset.measured_loads()} == {*PAGES}
