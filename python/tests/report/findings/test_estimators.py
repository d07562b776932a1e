"""Of a plan that stops by confidence sequences every interval is one, or there is none."""

import io

import pytest
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.report import terminal_summary
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_level, level_of_loads
from resolab.report.findings.sensitivity import ALL
from resolab.report.parts.comparison_tables import answer_comparisons
from resolab.stats import LEVEL, STOPPING_LEVEL, Method, Sample, difference_at_any_look
from resolab.store import build_tables, open_dataset
from resolab.store.outcomes import PLT
from resolab.studies.s24.paper_comparison import paper_load_table

NAMED = """
[[comparison]]
name = "DoH"
treatment = { dns_transport = ["doh"] }
baseline = { dns_transport = "doudp" }
[[repeat]]
dns_transport = ["doudp"]
"""
TEXT = PLAN_TEXT.replace("blocks = 6", "blocks = 14").replace('["example", "wikipedia"]', '["example"]') + NAMED


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    plan = make_plan(TEXT + '[stop]\nrule = "confidence_sequence"\n')
    folder = make_dataset(tmp_path_factory.mktemp("any-look") / "d", plan)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


def test_medians_differences_and_changes_have_sequences(findings: Findings) -> None:
    for one in findings.plt.conditions:
        assert one.median_ms.method is Method.CONFIDENCE_SEQUENCE
    for one in findings.plt.comparisons:
        assert {one.difference_ms.method, one.change.method} == {Method.CONFIDENCE_SEQUENCE}
        assert (one.difference_ms.level, one.change.level) == (0.95, 0.95)
        loads = {arm: {} for arm in (one.comparison.treatment.id, one.comparison.baseline.id)}  # type: dict[str, dict[int, float]]
        for load in findings.loads:
            if load.condition in loads:
                loads[load.condition][load.block] = PLT.value_of_load(load) or 0.0
        treatment, baseline = (Sample.exact([loads[arm][block] for block in range(14)]) for arm in loads)
        same = difference_at_any_look(treatment, baseline)
        assert (one.difference_ms.ci_low, one.difference_ms.ci_high) == (same.ci_low, same.ci_high)


def test_the_same_without_doubtful_loads_has_sequences_too(findings: Findings) -> None:
    for one, same in zip(findings.sensitivities, findings.plt.comparisons, strict=True):
        assert one.estimates[ALL] == same.difference_ms


def test_what_is_good_at_one_look_only_has_neither_interval_nor_p(findings: Findings) -> None:
    for one in findings.plt.comparisons:
        assert one.shift_ms.value is not None
        assert (one.shift_ms.ci_low, one.delta.ci_low, one.p_value, one.adjusted_p_value) == (None, None, None, None)
    # No look decides about copies.
    assert {one.difference_ms.method for one in findings.plt.aa} == {Method.ORDER_STATISTIC}
    assert all(one.p_value is not None for one in findings.plt.aa)


def test_the_answer_counts_sequences_and_no_tests(findings: Findings) -> None:
    (answer,) = answer_comparisons(findings)
    assert "of 4 paired differences have a confidence sequence without 0, each at 95 % for itself" in answer
    assert "Holm" not in answer


def test_the_level_said_is_the_one_of_the_sequences(findings: Findings) -> None:
    assert (find_level(findings.plan), level_of_loads(findings.plan)) == (STOPPING_LEVEL, LEVEL)
    assert "ours: 95 % interval" in paper_load_table(findings).columns
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(terminal_summary(findings))
    text = " ".join(console.export_text().split())
    assert "95 % intervals by confidence sequence, valid at any look, each for itself" in text
