"""The first screen of a quick plan's report: few words, one figure, one table with the same numbers."""

import csv
import html
import re
from pathlib import Path

import pytest
from synthetic_dataset import make_dataset, make_plan

from resolab.report import build_report

PROJECT = Path(__file__).resolve().parents[4]
WORDS_BEFORE_THE_FIGURE, WORDS_OF_THE_ANSWER = 60, 120


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    quick = (PROJECT / "plans" / "quick.toml").read_text()
    return build_report(make_dataset(tmp_path_factory.mktemp("quick") / "dataset", make_plan(quick)))


@pytest.fixture(scope="module")
def body(report: Path) -> str:
    return report.read_text().partition("<body>")[2]


def words(part: str) -> list[str]:
    """List the words a reader meets, without those drawn in a figure."""
    return html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<svg.*?</svg>", "", part, flags=re.DOTALL))).split()


def section(body: str, name: str) -> str:
    return body.partition(f'<section id="{name}">')[2].partition("</section>")[0]


def test_few_words_stand_before_the_figure_and_in_the_answer(body: str) -> None:
    assert 20 < len(words(body.partition("<svg")[0])) <= WORDS_BEFORE_THE_FIGURE
    assert 40 < len(words(section(body, "answer"))) <= WORDS_OF_THE_ANSWER


def test_the_answer_has_one_figure_and_at_most_three_sentences(body: str) -> None:
    answer = section(body, "answer")
    assert answer.count("<figure") == 1
    sentences = re.findall(r'<p class="(?:verdict|plain)">(.*?)</p>', answer)
    assert 1 <= len(sentences) <= 3
    assert all(one.endswith(".") and ". " not in one for one in sentences)


def test_the_figure_is_drawn_for_a_wide_and_a_narrow_screen_and_has_a_label(body: str) -> None:
    found = re.findall(r'<svg role="img" class="(\w+)" aria-label="([^"]+)"', section(body, "answer"))
    assert [screen for screen, _ in found] == ["wide", "narrow"]
    assert all("Median of the paired differences" in label for _, label in found)


def test_every_comparison_has_a_row_with_the_numbers_of_the_figure(report: Path, body: str) -> None:
    with (report.parent / "figures" / "answer.csv").open() as stream:
        drawn = list(csv.DictReader(stream))
    table = [
        [html.unescape(cell).replace("\u00a0", " ") for cell in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", section(body, "numbers"))
    ]
    told = [row for row in table[1:] if len(row) > 1]
    assert len(told) == len(drawn) == 24
    for cells, row in zip(told, drawn, strict=True):
        assert cells[0].endswith(f"{row['page']}, {row['profile']}")
        low, high = float(row["ci_low_ms"]), float(row["ci_high_ms"])
        assert cells[1] == f"{float(row['estimate_ms']):+.1f} [{low:+.1f}, {high:+.1f}]"
        assert cells[2].partition(" (")[0] == row["verdict"]
        assert cells[3] == row["pairs_count"]
        assert cells[table[0].index("margin, ms")] == f"{float(row['margin_ms']):.1f}"
        assert cells[table[0].index("after Holm")] == f"{float(row['holm_p_value']):.4f}"


def test_what_qualifies_the_answer_is_said(body: str) -> None:
    answer = section(body, "answer")
    for said in (
        "each for itself",
        "95 % intervals by order statistics",
        "equivalence within 0.25 round trips, the plan&#39;s margin",
        "After Holm&#39;s correction",
        "0 of 240 loads failed; no trial is flagged.",
    ):
        assert said in answer
    folded = section(body, "sentences")
    for said in (
        "(n = 10)",
        "packets dropped by the link",
        "Schuirmann 1987",
        "Dataset",
    ):
        assert said in folded
