import math

import pytest

from resolab.report.plots.amortisation import count_text
from resolab.report.plots.difference_cdfs import DifferenceCurve, SharePoint, reach_ms
from resolab.report.plots.difference_matrix import MatrixCell, choose_band, draw_difference_matrix
from resolab.report.plots.style import house_style
from resolab.stats import Estimate, Method


def estimate(low: float | None, high: float | None = None, ci: tuple[float, float] | None = None) -> Estimate:
    ends = ci or (None, None)
    return Estimate(low, low if high is None else high, *ends, 8, 0, 0.95, Method.ORDER_STATISTIC)


@pytest.mark.parametrize(
    ("median", "band"),
    [
        (estimate(-30.0), "similar"),
        (estimate(30.0), "similar"),
        (estimate(30.1), "slower"),
        (estimate(-30.1), "faster"),
        (estimate(100.1), "slower by more than 100 ms"),
        (estimate(-math.inf, -120.0), "faster by more than 100 ms"),
        (estimate(120.0, math.inf), "slower by more than 100 ms"),
        (estimate(20.0, math.inf), "not determined"),
        (estimate(None), "not determined"),
    ],
)
def test_a_band_holds_all_that_the_median_can_be(median: Estimate, band: str) -> None:
    assert choose_band(median) == band


def curve(shift_ms: float) -> DifferenceCurve:
    points = [SharePoint(shift_ms + step, (step + 1) / 10, (step + 1) / 10, (step + 1) / 10) for step in range(10)]
    return DifferenceCurve(points, 0.0, estimate(shift_ms + 4.5), estimate(shift_ms + 4.5), {"pair": shift_ms})


def test_the_matrix_writes_every_median_and_hatches_what_is_slower() -> None:
    cells = [MatrixCell("a", "b", curve(60.0)), MatrixCell("b", "a", curve(-69.0))]
    drawing = draw_difference_matrix("h20_fig2", "caption", cells)
    (axes,) = drawing.figure.axes
    words = [text.get_text() for text in axes.texts]
    assert "+64 ms" in words
    assert "-64 ms" in words
    hatched = {patch.get_xy() for patch in axes.patches if patch.get_hatch()}
    assert hatched == {(1, 0)}  # row a, column b: slower
    assert [row["band"] for row in drawing.rows] == ["slower"] * 10 + ["faster"] * 10
    with house_style():
        drawing.figure.draw_without_rendering()


def test_bounds_do_not_stretch_the_axis() -> None:
    lost = SharePoint(29_900.0, 0.9, 1.0, 1.0)
    one = curve(100.0)
    stretched = DifferenceCurve([*one.points, lost], 0.0, one.median_ms, one.survivors_median_ms, {})
    assert reach_ms([stretched]) == reach_ms([one]) == pytest.approx(1.15 * 108)


def test_never_is_a_number_of_queries() -> None:
    assert count_text(estimate(math.inf)) == "never"
    assert count_text(estimate(20.0, ci=(18.0, math.inf))) == "20 [18, never]"
