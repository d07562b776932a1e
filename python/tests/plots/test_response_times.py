"""Panels of response times have room whatever their legends say."""

import warnings

import pytest

from resolab.plots.response_times import ResponseLine, draw_response_times
from resolab.plots.style import house_style
from resolab.stats import Estimate, Method


def line(panel: str, label: str, failed: int) -> ResponseLine:
    median = Estimate(124.5, 124.5, 124.4, 124.6, 24_450, failed, 0.95, Method.ORDER_STATISTIC)
    points = [(100.0, 0.2), (124.5, 0.5), (180.0, 0.9)]
    return ResponseLine(panel, label, "doh", False, points, median, {"label": label})


@pytest.mark.parametrize("failed", [0, 2_445])
def test_the_axes_keep_their_width_beside_long_legends(failed: int) -> None:
    lines = [line(panel, f"DoH resumed, number {number}", failed) for panel in "abcd" for number in range(9)]
    drawing = draw_response_times("fig", "caption", lines)
    with house_style(), warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing.figure.canvas.draw()
    for axes in drawing.figure.axes[:4]:
        inches = axes.get_window_extent().width / drawing.figure.dpi
        assert inches > 2.5
        assert axes.get_legend().get_window_extent().x1 <= drawing.figure.bbox.x1
