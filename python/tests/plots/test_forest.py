"""The forest plot: intervals where they are, arrows where they go on, marks that grey print keeps apart."""

import math
import re
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from resolab.report.plots import ForestGroup, ForestLine, ForestMark, ForestWords, Verdict, draw_forest, save_drawing
from resolab.report.plots.forest_layout import NARROW_INCH, WIDE_INCH, axis_limits
from resolab.report.plots.verdicts import VERDICT_LOOKS
from resolab.stats import Estimate, Method

WORDS = ForestWords("paired difference of PLT, ms", "DoUDP + H3 full", ("ms [interval]", "n"))


def mark(value: float | None, low: float | None, high: float | None, verdict: Verdict = Verdict.SLOWER) -> ForestMark:
    return ForestMark(Estimate(value, value, low, high, 8, 0, 0.95, Method.ORDER_STATISTIC), verdict, 5.0)


def drawn(*marks: ForestMark, label: str = "example, 4g") -> tuple[Figure, Figure]:
    lines = [ForestLine(label, [one], ("+1.0 [+0.5, +1.5]", "8"), str(one.verdict)) for one in marks]
    drawing = draw_forest([ForestGroup("DoQ against DoUDP", lines)], WORDS, [{"x": 1}], "a caption")
    assert drawing.narrow is not None
    return drawing.figure, drawing.narrow


def horizontal(figure: Figure) -> list[tuple[float, float]]:
    """List the ends of the drawn intervals."""
    lines = (one.get_xdata() for one in figure.axes[0].lines)
    return [(float(x[0]), float(x[1])) for x in lines if len(x) == 2 and x[0] != x[1]]


def test_both_screens_have_the_same_intervals() -> None:
    for figure, width in zip(drawn(mark(10, 8, 12), mark(-3, -9, 4)), (WIDE_INCH, NARROW_INCH), strict=True):
        assert figure.get_size_inches()[0] == width
        assert horizontal(figure) == [(8, 12), (-9, 4)]


@pytest.mark.parametrize(("low", "high", "arrow"), [(3.0, math.inf, ">"), (-math.inf, -3.0, "<")])
def test_an_open_end_is_an_arrow_at_the_edge(low: float, high: float, arrow: str) -> None:
    wide, _ = drawn(mark(None, low, high))
    assert [one.get_marker() for one in wide.axes[0].lines].count(arrow) == 1
    edges = wide.axes[0].get_xlim()
    assert all(edges[0] <= end <= edges[1] for pair in horizontal(wide) for end in pair)


def test_a_single_far_interval_does_not_squeeze_the_others() -> None:
    usual = [mark(10, 8, 12) for _ in range(40)]
    assert axis_limits([*usual, mark(20, -9_000, 9_000)])[1] < 100


def test_marks_differ_in_shape_or_filling_and_contrast_with_paper() -> None:
    for one, look in VERDICT_LOOKS.items():
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(look.colour)]
        luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
        assert 1.05 / (luminance + 0.05) >= 5, one
    undirected = (Verdict.EQUIVALENT, Verdict.NOT_DECIDED, Verdict.SLOWER)  # slower and faster differ in their side
    assert len({(VERDICT_LOOKS[one].marker, VERDICT_LOOKS[one].filled) for one in undirected}) == 3


def test_long_foreign_words_stay_within_the_figure() -> None:
    for figure in drawn(mark(10, 8, 12), label="a page with $a name$\x07 " + "x" * 300):
        texts = [one.get_text() for one in figure.axes[0].texts]
        assert max(map(len, texts)) < 60
        assert not any("\x07" in one for one in texts)


def test_the_narrow_drawing_is_embedded_and_not_saved(tmp_path: Path) -> None:
    lines = [ForestLine("a", [mark(1, 0.5, 2)], ("1", "8"), "slower")]
    html = save_drawing(draw_forest([ForestGroup("b", lines)], WORDS, [{"x": 1}], "a caption"), tmp_path)
    wide, narrow = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    for own, other in ((wide, narrow), (narrow, wide)):
        names = set(re.findall(r'\bid="([^"]*)"', own))
        assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', own)) <= names  # a hidden drawing defines nothing
        assert not names & set(re.findall(r'\bid="([^"]*)"', other))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["answer.csv", "answer.pdf", "answer.svg"]
