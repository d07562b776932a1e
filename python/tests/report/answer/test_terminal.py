"""The summary at the end of a run: one line a comparison, its numbers against the loads."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.plan import Estimand
from resolab.report import terminal_summary
from resolab.report.answer.lines import answer_lines
from resolab.report.answer.rows import answer_rows
from resolab.report.answer.table import answer_table
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.parts.labels import name_combination
from resolab.report.parts.narrow_table import TerminalTable
from resolab.store import build_tables, open_dataset

ONE_NETWORK = PLAN_TEXT.replace('["fiber", "4g"]', '["4g"]').replace("blocks = 6", "blocks = 8")


def analysed(folder: Path, text: str, faults: Faults | None = None) -> Findings:
    make_dataset(folder, make_plan(text), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return analysed(tmp_path_factory.mktemp("terminal") / "dataset", ONE_NETWORK)


def summary(findings: Findings, width: int = 200) -> list[str]:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(terminal_summary(findings))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_every_comparison_has_its_line_with_its_numbers(findings: Findings) -> None:
    lines = summary(findings)
    for one in findings.plt.comparisons:
        treatment, estimate = one.comparison.treatment, one.difference_ms
        heading = lines.index(name_combination(findings, treatment))
        (line,) = (text for text in lines[heading + 1 : heading + 3] if text.strip().startswith(f"{treatment.page}, "))
        assert f" {estimate.value:+.1f} [{estimate.ci_low:+.1f}, {estimate.ci_high:+.1f}]  8  " in line
        word = "slower" if estimate.verdict > 0 else "faster" if estimate.verdict < 0 else "not decided"
        assert line.endswith(f"  {word}")


def test_it_fits_in_80_columns_and_is_aligned(findings: Findings) -> None:
    lines = summary(findings, 200)
    assert summary(findings, 80) == lines
    assert max(map(len, lines)) <= 80
    of_comparisons = [line for line in lines if line.startswith("  ") and "[+" in line]
    assert len({line.index("]") for line in of_comparisons}) == 1


def test_the_answer_is_at_most_three_sentences(findings: Findings) -> None:
    lines = summary(findings)
    before = " ".join(lines[1 : next(place for place, line in enumerate(lines) if line.startswith("Median of"))])
    assert before.count(". ") == 2
    assert before.startswith("Of 10 comparisons with DoUDP + H3 full, ")
    assert before.endswith("0 of 96 loads failed; no trial is flagged.")


def test_a_narrow_terminal_has_two_lines_a_comparison(findings: Findings) -> None:
    lines = summary(findings, 42)
    assert max(map(len, lines)) <= 42
    assert lines[lines.index("  wikipedia, 4g") + 1].startswith("    ")


def test_one_line_a_name_needs_no_heading(findings: Findings) -> None:
    only = [one for one in findings.plt.comparisons if one.comparison.treatment.page == "example"]
    lines = summary(replace(findings, plt=replace(findings.plt, comparisons=only)))
    assert sum(line.startswith("  DoH + H3 ") and line.endswith("slower") for line in lines) == 2


def test_many_comparisons_have_a_line_with_their_extremes(tmp_path: Path) -> None:
    text = PLAN_TEXT.replace("blocks = 6", "blocks = 5").replace('["fiber", "4g"]', '["fiber", "cable", "dsl", "4g"]')
    found = analysed(tmp_path / "d", text)
    for width in (80, 45):
        lines = summary(found, width)
        assert max(map(len, lines)) <= width
        place = next(place for place, line in enumerate(lines) if line.startswith("  fiber, 2 pages"))
        below = lines[place + 1 : place + 3] if width == 80 else lines[place + 2 : place + 4]
        assert below[0].strip().startswith("to ")


def test_a_plan_without_comparisons_has_medians(tmp_path: Path) -> None:
    text = ONE_NETWORK.replace('["doudp", "doh", "doq"]', '["doudp"]').replace('["full", "zero_rtt"]', '["full"]')
    text = text.replace('doh = "native"\ndoq = "stub"\n', "")
    lines = summary(analysed(tmp_path / "d", text))
    assert "The plan compares no conditions; the medians of each stand below." in lines
    assert any(line.startswith("Median page load time, ms, and 95 % interval") for line in lines)
    assert sum("DoUDP + H3 full" in line and "[" in line for line in lines) == 2


def printed(width: int) -> list[str]:
    rows = [("example, 4g",), ("  DoH + H3 full, a long label to be folded", "123.4 [1, 2]", "", "8")]
    table = TerminalTable("Times", ("condition", "PLT ms", "range ms", "n"), frozenset({0}), rows)
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_narrow_terminal_gets_lines_with_labels_and_a_wide_one_a_table() -> None:
    assert printed(40) == [
        "Times",
        "example, 4g",
        "DoH + H3 full, a long label to be folded",
        "  PLT ms: 123.4 [1, 2]",
        "  n: 8",
    ]
    wide = printed(80)
    assert "  DoH + H3 full, a long label to be folded  123.4 [1, 2]            8" in wide
    assert all("PLT ms" not in line or "condition" in line for line in wide)


@pytest.mark.parametrize(
    ("estimand", "title"),
    [
        ("paired_difference", "difference, ms"),
        ("relative_change", "change of the median, %"),
        ("shift", "shift, ms"),
    ],
)
def test_the_column_names_its_number_and_unit(findings: Findings, estimand: str, title: str) -> None:
    """A difference of 50 ms and a change of 50 % must not look alike."""
    plan = replace(findings.plan, analysis=replace(findings.plan.analysis, estimand=Estimand(estimand)))
    assert any(f" {title} [interval] " in line for line in summary(replace(findings, plan=plan)))
    rows = answer_rows(replace(findings, plan=plan))
    table = answer_table(replace(findings, plan=plan), answer_lines(replace(findings, plan=plan), rows).groups)
    assert table.columns[1] == title
