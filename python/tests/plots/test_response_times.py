"""Panels of response times have room whatever their legends say."""

import warnings
from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from resolab.report.plots.response_times import ResponseLine, draw_response_times
from resolab.report.plots.style import house_style
from resolab.stats import Estimate, Method


def line(panel: str, label: str, failed: int) -> ResponseLine:
    median = Estimate(124.5, 124.5, 124.4, 124.6, 24_450, failed, 0.95, Method.ORDER_STATISTIC)
    points = [(100.0, 0.2), (124.5, 0.5), (180.0, 0.9)]
    return ResponseLine(panel, label, "doh", False, points, median, {"label": label})


def key_of(figure: Figure) -> tuple[list[Line2D], list[Text]]:
    found = figure.get_children()
    return [one for one in found if isinstance(one, Line2D)], [one for one in found if type(one) is Text]


@pytest.mark.parametrize("failed", [0, 2_445])
def test_panels_and_keys_have_room_beside_long_labels(failed: int) -> None:
    lines = [line(panel, f"DoH resumed, number {number}", failed) for panel in "abcd" for number in range(9)]
    figure = draw_response_times("fig", "caption", lines).figure
    with house_style(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    panels = [axes.get_tightbbox() for axes in figure.axes]
    assert all(axes.get_window_extent().width / figure.dpi > 2.5 for axes in figure.axes)
    samples, labels = key_of(figure)
    assert len(samples) == len(labels) == len(lines)
    parts = [*panels, *(label.get_window_extent() for label in labels)]
    for part in parts:
        assert part is not None
        assert figure.bbox.x0 <= part.x0 < part.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= part.y0 < part.y1 <= figure.bbox.y1
        assert sum(bool(part.overlaps(other)) for other in parts if other is not None) == 1, "it overlaps another"


def test_the_key_shows_each_line_as_it_is_drawn() -> None:
    solid = replace(line("b", "DoUDP", 0), dns_transport="doudp", warm=True)
    figure = draw_response_times("fig", "caption", [line("a", "DoH", 0), solid]).figure
    for axes, sample, text in zip(figure.axes, *key_of(figure), strict=True):
        drawn = axes.lines[0]
        assert text.get_text() == drawn.get_label()
        assert (sample.get_color(), sample.get_linewidth()) == (drawn.get_color(), drawn.get_linewidth())
        assert sample.is_dashed() == drawn.is_dashed()
        assert not sample.get_clip_on()
