"""Verdicts follow from interval and margin; sentences count them; many comparisons share lines."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.plan import DecisionCriterion
from resolab.report.answer.content import answer_of
from resolab.report.answer.lines import MOST_LINES, answer_lines, every_line
from resolab.report.answer.rows import AnswerRow, answer_rows, margin_text
from resolab.report.answer.sentences import answer_sentences, correction_sentence, failure_sentence, verdict_sentence
from resolab.report.answer.table import extremes, verdict_counts
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.plots import Verdict
from resolab.store import Decision, build_tables, open_dataset

MARGIN = "[analysis]\nequivalence_margin_rtts = 0.25\n"
EIGHT = PLAN_TEXT.replace("blocks = 6", "blocks = 8")


def analysed(folder: Path, text: str, faults: Faults | None = None) -> Findings:
    make_dataset(folder, make_plan(text), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return analysed(tmp_path_factory.mktemp("verdicts") / "d", EIGHT + MARGIN)


@pytest.fixture(scope="module")
def rows(findings: Findings) -> list[AnswerRow]:
    return answer_rows(findings)


def test_a_verdict_is_what_interval_and_test_say(findings: Findings, rows: list[AnswerRow]) -> None:
    alike = {(one.treatment.id, one.baseline.id): one.tested.is_alike for one in findings.equivalences}
    assert {Verdict.SLOWER, Verdict.FASTER, Verdict.EQUIVALENT} <= {row.verdict for row in rows}
    for row in rows:
        low, high = row.estimate.ci_low, row.estimate.ci_high
        assert low is not None
        assert high is not None
        within = alike[row.comparison.treatment.id, row.comparison.baseline.id]
        if low > 0 or high < 0:
            assert row.verdict is (Verdict.SLOWER if low > 0 else Verdict.FASTER)
        else:
            assert row.verdict is (Verdict.EQUIVALENT if within else Verdict.NOT_DECIDED)
        assert row.within_margin == within
        assert row.margin_ms == pytest.approx(0.25 * findings.rtt_ms[row.comparison.treatment.profile])


def test_without_a_margin_nothing_is_equivalent(findings: Findings) -> None:
    plan = make_plan(EIGHT)
    without = answer_rows(replace(findings, plan=plan, equivalences=()))
    assert Verdict.EQUIVALENT not in {row.verdict for row in without}
    assert all(row.margin_ms is None for row in without)
    assert margin_text(replace(findings, plan=plan)) is None


def test_a_difference_smaller_than_the_margin_is_both(findings: Findings, rows: list[AnswerRow]) -> None:
    small = replace(next(row for row in rows if row.verdict is Verdict.FASTER), within_margin=True)
    assert small.words == "faster (within margin)"
    assert verdict_sentence(findings, [small]) == (
        "Of 1 comparison with DoUDP + H3 full, 1 is faster (1 of them by less than the margin)."
    )


def test_a_decision_by_sequences_within_the_margin_is_equivalent(findings: Findings, rows: list[AnswerRow]) -> None:
    undecided = next(row for row in rows if not row.estimate.verdict)
    pair = undecided.comparison.treatment.id, undecided.comparison.baseline.id
    decision = Decision(
        name=undecided.comparison.name, treatment=pair[0], baseline=pair[1], after_blocks=8,
        reasons=[DecisionCriterion.EQUIVALENCE], pairs_count=8,
    )  # fmt: skip
    manifest = msgspec.structs.replace(findings.manifest, decisions=[decision])
    found = answer_rows(replace(findings, manifest=manifest, equivalences=()))
    equivalent = [row for row in found if row.verdict is Verdict.EQUIVALENT]
    assert [(row.comparison.treatment.id, row.comparison.baseline.id) for row in equivalent] == [pair]


def test_the_first_sentence_counts_every_comparison_once(findings: Findings, rows: list[AnswerRow]) -> None:
    counts = Counter(row.verdict for row in rows)
    sentence = verdict_sentence(findings, rows)
    assert sentence.startswith(f"Of 20 comparisons with DoUDP + H3 full, {counts[Verdict.SLOWER]} are slower")
    assert f"{counts[Verdict.EQUIVALENT]} equivalent within the margin" in sentence
    assert sum(counts.values()) == 20


def test_the_second_sentence_is_about_the_number_of_comparisons(findings: Findings, rows: list[AnswerRow]) -> None:
    few = correction_sentence(findings, rows)
    assert few == (
        "8 pairs are too few for Holm's correction over 20 comparisons (that takes 10): each verdict counts alone, and "
        "by chance about 5 % of intervals exclude 0."
    )
    decided = [row for row in rows if row.verdict is Verdict.SLOWER][:4]
    slower = [replace(row, adjusted_p_value=p) for row, p in zip(decided, (0.01, 0.05, 0.06, 0.5), strict=True)]
    assert correction_sentence(findings, slower) == (
        "After Holm's correction 2 of 4 comparisons are significant at 5 % by signed ranks."
    )
    sequences = correction_sentence(findings, [replace(row, p_value=None, adjusted_p_value=None) for row in rows])
    assert sequences is not None
    assert "confidence sequence" in sequences


def test_few_blocks_and_unfinished_runs_are_said(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d", PLAN_TEXT, Faults(trials_count=40, timeouts=True, late=True))
    first, *others = answer_sentences(found, answer_rows(found))
    assert first.startswith("None of 20 comparisons is decided: ")
    assert first.endswith(" pairs of blocks so far, and an interval takes 5.")
    (last,) = others
    assert last.startswith("The run is interrupted, with 40 of 144 trials; ")
    assert "loads failed and count as at least their limit" in last
    assert "trials have 5 flags and are kept" in last


def test_drops_of_the_instrument_are_said(findings: Findings) -> None:
    late = [msgspec.structs.replace(one, dropped_device_count=2) for one in findings.lateness]
    assert f"packets lost by the instrument: {2 * len(late)}" in failure_sentence(replace(findings, lateness=late))


def test_many_comparisons_share_lines_and_none_is_lost(tmp_path: Path) -> None:
    profiles = '["fiber", "cable", "dsl", "4g"]'
    text = PLAN_TEXT.replace("blocks = 6", "blocks = 1").replace('["fiber", "4g"]', profiles)
    found = analysed(tmp_path / "d", text)
    rows = answer_rows(found)
    assert len(rows) == 40
    lines = answer_lines(found, rows)
    of_lines = [line for group in lines.groups for line in group.lines]
    assert len(of_lines) == 20 <= MOST_LINES
    assert {line.label for line in of_lines} == {f"{name}, 2 pages" for name in ("fiber", "cable", "dsl", "4g")}
    assert (lines.joined_count, lines.folded_count) == (40, 0)
    assert sum(len(group.lines) for group in every_line(found, rows)) == 40
    content = answer_of(found)
    assert content.folded is not None
    assert sum(len(group) for _, group in content.folded.groups) == content.count == 40
    assert content.drawing is not None
    assert len(content.drawing.rows) == 40
    assert "Thin bars: 40 comparisons, listed below." in content.drawing.caption


def test_groups_beyond_the_screen_are_counted_and_stay_in_the_table(findings: Findings, rows: list[AnswerRow]) -> None:
    plan = replace(findings.plan, comparison_rules=(object(),))  # type: ignore[arg-type]
    many = [
        replace(row, comparison=replace(row.comparison, name=f"question {number}"))
        for number in range(MOST_LINES + 5)
        for row in rows[:2]
    ]
    lines = answer_lines(replace(findings, plan=plan), many)
    assert sum(len(group.lines) for group in lines.groups) == MOST_LINES
    assert lines.folded_count == 10


def test_short_names_with_one_line_each_need_no_heading(findings: Findings, rows: list[AnswerRow]) -> None:
    of_one_cell = [
        row for row in rows if (row.comparison.treatment.page, row.comparison.treatment.profile) == ("example", "4g")
    ]
    (group,) = answer_lines(findings, of_one_cell).groups
    assert group.heading == ""
    assert [line.label for line in group.lines][:2] == ["DoUDP + H3 0-RTT", "DoH + H3 full"]


def test_a_shared_line_has_its_extremes_and_counts(findings: Findings, rows: list[AnswerRow]) -> None:
    lines = answer_lines(findings, rows)
    line = replace(lines.groups[0].lines[0], rows=rows[:4])
    least, greatest = extremes(line)
    values = [row.estimate.value for row in rows[:4] if row.estimate.value is not None]
    assert (least and least.value, greatest and greatest.value) == (min(values), max(values))
    counts = Counter(str(row.verdict) for row in rows[:4])
    assert verdict_counts(line) == ", ".join(f"{count} {word}" for word, count in counts.most_common())


def test_loads_lost_to_the_instrument_are_no_failed_loads(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d", PLAN_TEXT.replace("blocks = 6", "blocks = 3"), Faults(lost=True))
    lost = sum(one.unusable_count for one in found.conditions)
    assert lost > 1
    sentence = failure_sentence(found)
    assert sentence.startswith(f"0 of 72 loads failed; {lost} more were lost to the instrument and left out; ")
