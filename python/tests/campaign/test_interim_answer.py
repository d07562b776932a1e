"""The answer of a running campaign so far is what the report's paired differences are over the same blocks."""

from pathlib import Path

import pytest
from synthetic_dataset import Faults, make_dataset, make_plan

from resolab.campaign.interim_answer import InterimAnswer
from resolab.report.findings.comparisons import comparison_results
from resolab.store import build_tables, find_finished_trials, open_dataset, read_trial
from resolab.store.outcomes import OUTCOMES


def answer_of(plan, folder: Path) -> InterimAnswer:
    answer = InterimAnswer(plan)
    for file in find_finished_trials(folder).values():
        records = list(read_trial(file))
        answer.add(records[0].condition, records[0].block, records)
    return answer


@pytest.mark.parametrize("faults", [Faults(), Faults(timeouts=True, lost=True)], ids=["good", "failures"])
def test_over_all_blocks_it_is_the_reports(tmp_path, faults):
    plan = make_plan()
    folder = make_dataset(tmp_path / "d", plan, faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        results = comparison_results(plan, dataset.measured_loads(), OUTCOMES[plan.analysis.primary])
    rows = answer_of(plan, folder).rows(plan.blocks)
    assert len(rows) == len(results)
    for row, result in zip(rows, results, strict=True):
        assert (row.treatment, row.baseline) == (result.comparison.treatment.id, result.comparison.baseline.id)
        assert row.difference.n == result.difference_ms.n
        assert row.difference.value == result.difference_ms.value


def test_one_block_gives_no_answer_and_two_give_pairs_of_two(tmp_path):
    plan = make_plan()
    answer = answer_of(plan, make_dataset(tmp_path / "d", plan))
    assert answer.rows(1) == []
    assert {row.difference.n for row in answer.rows(2)} == {2}
