"""The plan's comparisons and its A/A copies, from rows to the report's page."""

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.plan import Plan
from resolab.report import build_report
from resolab.report.findings.analysis import analyse, outcome_findings
from resolab.report.findings.comparisons import comparison_results
from resolab.report.findings.findings import Findings
from resolab.report.parts.comparison_tables import aa_sentences, aa_table, answer_comparisons, comparison_table, p_text
from resolab.report.parts.outcome_tables import outcome_table
from resolab.report.parts.sentences import answers
from resolab.report.sections.environment import environment
from resolab.stats import holm
from resolab.store import (
    Environment,
    IntervalWidth,
    StopReason,
    build_tables,
    load_manifest,
    open_dataset,
    save_manifest,
)
from resolab.store.outcomes import PLT

MORE = """
[[comparison]]
name = "DoQ and 0-RTT"
treatment = { dns_transport = ["doq"], requested_handshake_mode = ["zero_rtt"] }
baseline = { dns_transport = "doudp", requested_handshake_mode = "full" }
[[repeat]]
dns_transport = ["doudp"]
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 10") + MORE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> Path:
    folder = make_dataset(tmp_path_factory.mktemp("compared") / "d", plan)
    build_tables(folder)
    return folder


@pytest.fixture(scope="module")
def findings(folder: Path) -> Findings:
    with open_dataset(folder) as dataset:
        return analyse(dataset)


def test_named_comparisons_are_estimated_and_corrected_over_all_of_them(findings: Findings) -> None:
    assert [one.comparison.treatment.id for one in findings.plt.comparisons] == [
        f"{page}.{profile}.doq.h3.zero_rtt" for page in ("example", "wikipedia") for profile in ("fiber", "4g")
    ]
    p_values = [one.p_value for one in findings.plt.comparisons]
    assert all(p is not None for p in p_values)
    assert [one.adjusted_p_value for one in findings.plt.comparisons] == holm([p or 0.0 for p in p_values])
    # DoQ costs a round trip of 92 ms more than DoUDP on 4g, 0-RTT saves one: the medians stay near each other.
    assert all(one.difference_ms.n == 10 for one in findings.plt.comparisons)


def test_a_copy_is_compared_with_its_first_and_is_no_load_against_the_baseline(findings: Findings) -> None:
    assert len(findings.plt.aa) == 8
    assert all(one.comparison.baseline == replace(one.comparison.treatment, replicate=1) for one in findings.plt.aa)
    assert not [one for one, _ in findings.plt.compared if one.condition.replicate > 1]
    noise = findings.plt.noise
    assert noise is not None
    values = [abs(one.difference_ms.value or 0.0) for one in findings.plt.aa]
    assert noise.difference_ms.p95_absolute_difference == max(values)
    assert noise.difference_ms.significant_count == sum((one.p_value or 1) <= 0.05 for one in findings.plt.aa)
    first, by_interval, floor = aa_sentences(findings)
    assert first.startswith("8 A/A comparisons of a condition with its own copy: ")
    assert "(Clopper and Pearson 1934)" in first
    wrong = sum(one.difference_ms.verdict != 0 for one in findings.plt.aa)
    assert f"of the paired difference {wrong} of 8, " in by_interval
    assert "relative change" in by_interval
    assert f"{max(values):.1f} ms" in floor
    rows = {row[2]: row for row in outcome_table(findings, findings.plt).rows}
    assert "copy 2" in [cell for name, row in rows.items() if "copy 2" in name for cell in row]


def test_three_copies_are_compared_each_two_and_counted_by_condition(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", make_plan(PLAN_TEXT + '[[repeat]]\ndns_transport = ["doudp"]\ntimes = 3\n'))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        found = analyse(dataset)
    noise = found.plt.noise
    assert noise is not None
    assert (noise.comparisons_count, noise.conditions_count) == (24, 8)
    assert noise.by_interval["paired difference"].effective_n < 24
    sentence = aa_sentences(found)[0]
    assert sentence.startswith("24 A/A comparisons of 8 conditions, each two of their copies: ")
    assert "(Korn and Graubard 1998)" in sentence
    cells = {(row[2], row[3]) for row in aa_table(found, found.plt).rows}
    assert any("copy 3" in one and "copy 2" in other for one, other in cells)


def test_answers_go_by_the_names_of_comparisons(findings: Findings, plan: Plan) -> None:
    (named,) = answer_comparisons(findings)
    assert named.startswith("DoQ and 0-RTT against DoUDP + H3")
    assert "after Holm's correction over the plan's 4 comparisons" in named
    assert answers(findings)[0] == named
    assert {row[0] for row in comparison_table(findings, findings.plt).rows} == {"DoQ and 0-RTT"}


def test_without_names_the_comparisons_are_those_of_the_conditions_with_the_baseline(findings: Findings) -> None:
    with_names = findings.plan
    plan = replace(with_names, comparison_rules=())
    results = comparison_results(plan, [], PLT)
    assert len(results) == len(findings.plt.compared)
    assert {one.p_value for one in results} == {None}
    assert answer_comparisons(replace(findings, plan=plan)) == []


def test_comparisons_that_no_plan_names_are_tested_and_corrected_too(findings: Findings) -> None:
    plan = replace(findings.plan, comparison_rules=())
    found = outcome_findings(plan, findings.loads, findings.oracle, PLT)
    again = comparison_results(plan, findings.loads, PLT)
    assert found.comparisons == again  # the estimates that the conditions have, made once
    table = comparison_table(replace(findings, plan=plan), found)
    assert table.columns[0] == "page"
    assert len(table.rows) == len(again) == len(found.compared)
    assert [row[-2:] for row in table.rows] == [(p_text(one.p_value), p_text(one.adjusted_p_value)) for one in again]


def test_the_page_has_comparisons_copies_and_both_ends_of_the_run(folder: Path) -> None:
    moment = Environment(unix_ns=1, kernel="6.1", load_average_1min=0.25, cpu_governors=["powersave"])
    manifest = replace_manifest(folder, moment)
    page = build_report(folder).read_text("utf-8")
    assert "The comparisons the plan names" in page
    assert 'id="aa"' in page
    assert "Hodges-Lehmann shift ms" in page
    assert manifest.stop_reason is StopReason.PRECISION
    with open_dataset(folder) as dataset:
        words = dict(environment(analyse(dataset)))
    assert words["stopped by"] == "precision after 10 whole blocks; widest bounded interval 9.5 ms"
    assert words["load average, start and end"] == "0.25 | 3.00"
    assert words["frequency governors, start and end"] == "powersave | unknown"
    assert words["processor time"] == "1.50% stolen by the host, 40% busy"


def replace_manifest(folder: Path, moment: Environment):
    import msgspec

    end = msgspec.structs.replace(moment, load_average_1min=3.0, steal_ratio=0.015, busy_ratio=0.4, cpu_governors=[])
    manifest = msgspec.structs.replace(
        load_manifest(folder),
        stop_reason=StopReason.PRECISION,
        blocks_finished_count=10,
        widths_reached=[IntervalWidth(name="a", treatment="a", baseline="b", ci_width_ms=9.5)],
        environment_start=moment,
        environment_end=end,
    )
    save_manifest(folder, manifest)
    return load_manifest(folder)


@pytest.mark.parametrize(("p", "text"), [(None, ""), (0.00001, "< 0.0001"), (0.03125, "0.0312"), (1.0, "1.0000")])
def test_p_values_read_well(p: float | None, text: str) -> None:
    assert p_text(p) == text
