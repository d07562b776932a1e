import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import rgb_to_hsv, to_rgb
from matplotlib.text import Text
from PIL import Image

from resolab.report.plots import (
    DifferenceRow,
    Drawing,
    ExchangeSeries,
    HeatCell,
    draw_differences,
    draw_exchanges,
    draw_heat_map,
    save_drawing,
)
from resolab.report.plots.cdf import CdfAxis, Curve, draw_cdfs, transport_look
from resolab.report.plots.style import DIVERGING, TRANSPORT_COLOURS, TRANSPORT_DASHES, house_style
from resolab.stats import Estimate, Method, Sample, median, relative_change

RNG = np.random.default_rng(1)


def change(by: float) -> Estimate:
    base = RNG.normal(100, 2, 10)
    return relative_change(Sample.exact(base * (1 + by) + RNG.normal(0, 1, 10)), Sample.exact(base), seed=1)


def cells() -> list[HeatCell]:
    found = [
        HeatCell(combination, page, profile, change(0.1 * row + 0.2 * column))
        for combination in ("DoQ + H3 full", "DoH + H3 full")
        for column, page in enumerate(("example", "wikipedia"))
        for row, profile in enumerate(("fiber", "4g"))
    ]
    found[0] = HeatCell("DoQ + H3 full", "example", "fiber", change(0.0))
    found[-1] = HeatCell("DoH + H3 full", "wikipedia", "4g", Estimate(None, None, None, None, 0, 0, 0.95, Method.NONE))
    return found


def series(n: int = 20, failed: int = 2) -> ExchangeSeries:
    times = tuple(sorted(float(value) for value in 2 + RNG.random(n - failed) * 0.1))
    shares = tuple((rank + 1) / n for rank in range(n - failed))
    middle = median(Sample.exact([time * 92 for time in times]), seed=1)
    return ExchangeSeries("4g", "4g", 0.0, "hit", 92.0, "doq", "full", times, shares, n, failed, 2, middle, 3.0)


def texts(drawing: Drawing) -> list[str]:
    found = [text.get_text() for axes in drawing.figure.axes for text in axes.texts]
    found += [text.get_text() for text in drawing.figure.get_children() if isinstance(text, Text)]
    legends = [axes.get_legend() for axes in drawing.figure.axes]
    return found + [text.get_text() for legend in legends if legend for text in legend.get_texts()]


def test_heat_map_writes_value_and_interval_into_every_cell() -> None:
    found = cells()
    drawing = draw_heat_map(found, "caption")
    words = texts(drawing)
    for cell in found[:-1]:
        assert cell.change is not None
        assert f"{cell.change.value * 100:+.1f} %".replace("+0.0 %", "0.0 %").replace("-0.0 %", "0.0 %") in words
    assert sum(word.startswith("[") for word in words) == 7
    assert "no data" in words


def test_heat_map_frames_exactly_the_cells_whose_interval_contains_zero() -> None:
    found = cells()
    drawing = draw_heat_map(found, "caption")
    frames = [
        patch
        for axes in drawing.figure.axes
        for patch in axes.patches
        if not patch.get_fill() and patch.get_width() < 1
    ]
    assert len(frames) == sum(bool(cell.change and cell.change.ci_contains_zero) for cell in found)
    assert 0 < len(frames) < len(found)


def test_a_cell_without_an_interval_has_no_colour_and_stretches_no_scale() -> None:
    few = Estimate(-0.9, -0.9, None, None, 3, 0, 0.95, Method.NONE)
    sure = Estimate(0.2, 0.2, 0.1, 0.3, 9, 0, 0.95, Method.PERCENTILE)
    found = [HeatCell("DoQ", "example", "4g", few), HeatCell("DoQ", "example", "dsl", sure)]
    drawing = draw_heat_map(found, "caption")
    axes, bar = drawing.figure.axes
    white, coloured = [patch.get_facecolor() for patch in axes.patches if patch.get_fill()]
    assert np.ptp(white[:3]) < 0.01
    assert np.ptp(coloured[:3]) > 0.2
    assert bar.get_ylim() == (0, 20)
    assert "no interval" in texts(drawing)


def test_four_panels_are_two_and_two() -> None:
    found = [HeatCell(str(number), "example", "4g", change(0.1)) for number in range(4)]
    *panels, _ = draw_heat_map(found, "caption").figure.axes
    assert len({round(axes.get_position().y0, 3) for axes in panels}) == 2
    assert len({round(axes.get_position().x0, 3) for axes in panels}) == 2
    assert all(axes.get_visible() for axes in panels)


@pytest.mark.parametrize("height", [1.5, 3.0])
def test_a_panels_legend_stands_below_its_axis_label(height: float) -> None:
    points = [(1.0, 0.5), (2.0, 1.0)]
    curves = [Curve("", "4g", f"curve {number}", transport_look("doq"), points, 2, 0, {}) for number in range(6)]
    drawing = draw_cdfs("x", curves, CdfAxis("time, ms", "time_ms"), "caption", panel_inch=(3.0, height))
    drawing.figure.draw_without_rendering()
    (axes,) = drawing.figure.axes
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
    assert legend.get_window_extent().y0 >= 0


def test_heat_map_panels_are_combinations() -> None:
    titles = [axes.get_title() for axes in draw_heat_map(cells(), "caption").figure.axes]
    assert titles[:2] == ["DoQ + H3 full", "DoH + H3 full"]


def test_colours_leave_a_neutral_zero_and_darken_both_ways() -> None:
    colours = mpl.colormaps[DIVERGING](np.linspace(0, 1, 33))
    luminance = colours[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance[:17]) > 0).all()
    assert (np.diff(luminance[16:]) < 0).all()
    assert np.ptp(colours[16, :3]) < 0.01  # no hue
    assert luminance[16] > 0.95


def test_zero_is_neutral_though_all_cells_lie_on_one_side() -> None:
    combination = "DoH + H3 full"
    found = [HeatCell(combination, "example", profile, change(by)) for profile, by in (("fiber", 0.0), ("4g", 0.5))]
    axes = draw_heat_map(found, "caption").figure.axes[0]
    nothing, much = (patch.get_facecolor() for patch in axes.patches if patch.get_fill())
    assert min(nothing[:3]) > 0.9
    assert much[0] - much[2] > 0.2  # red


def test_early_data_is_told_by_more_than_its_marks() -> None:
    for transport in TRANSPORT_COLOURS:
        full, early = (transport_look(transport, mode) for mode in ("full", "zero_rtt"))
        assert early.colour != full.colour
        assert (early.width or 0) > 2
        assert early.dash == "-"


def test_transports_lie_apart_in_grey() -> None:
    values = sorted(rgb_to_hsv(to_rgb(colour))[2] for colour in TRANSPORT_COLOURS.values())
    assert len(values) == len(set(map(str, TRANSPORT_DASHES.values())))


def test_a_profile_has_no_empty_rows_for_what_was_measured_on_others_only() -> None:
    known = median(Sample.exact([90.0, 92.0, 95.0]), seed=1)
    rows = [replace(difference(known), profile=profile) for profile in ("4g", "3g")]
    rows += [replace(difference(known, "DoH, as it comes"), profile="3g")]
    figure = draw_differences(rows, "").figure
    labels = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert labels == [["DoQ + H3 full"], ["DoQ + H3 full", "DoH, as it comes"]]


def test_exchange_curves_stay_below_one_by_the_failed_share() -> None:
    drawing = draw_exchanges([series()], "caption")
    assert max(row["cumulative_share_ratio"] for row in drawing.rows) == pytest.approx(0.9)
    assert any("2 of 20 failed" in text for text in texts(drawing))
    assert "k = 2" in texts(drawing)


def test_exchanges_without_any_success_are_still_named() -> None:
    never = median(Sample.exact([math.inf] * 3), seed=1)
    lost = ExchangeSeries("4g", "4g", 0.0, "hit", 92.0, "doh", "full", (), (), 3, 3, 3, never, None)
    assert any(text.startswith("DoH: median never") for text in texts(draw_exchanges([series(), lost], "c")))


def test_exchanges_with_another_resolver_have_a_panel_of_their_own() -> None:
    near = series()
    slow = tuple(trips + 40 for trips in near.round_trips)
    far = replace(near, place="4g, cache miss", resolver_cache="miss", round_trips=slow)
    other = replace(far, dns_transport="doh", expected_round_trips=3)
    first, second = draw_exchanges([near, far, other], "c").figure.axes
    assert (first.get_title(), second.get_title()) == ("4g  (RTT 92.0 ms)", "4g, cache miss\n(RTT 92.0 ms)")
    # Each shows its curves; the round trips that lie close together there share a label.
    assert first.get_xlim()[1] < 5
    assert 42 < second.get_xlim()[1] < 46
    assert [text.get_text() for text in second.texts] == ["k = 2, 3"]


def difference(estimate: Estimate, combination: str = "DoQ + H3 full") -> DifferenceRow:
    return DifferenceRow("example", "4g", combination, "doq", estimate, (90.0, 95.0), 92.0)


def test_differences_draw_numbers_bounds_and_absence(tmp_path: Path) -> None:
    known = median(Sample.exact([90.0, 92.0, 95.0]), seed=1)
    bound = median(Sample.from_censored([90.0, None, None], [30_000.0] * 3), seed=1)
    drawing = draw_differences(
        [difference(known), difference(bound, "b"), difference(median(Sample.exact([]), seed=1), "c")], ""
    )
    assert {"bounds only", "no data"} <= set(texts(drawing))
    save_drawing(drawing, tmp_path)


@pytest.mark.parametrize("drawing", [draw_heat_map(cells(), 'a "b" <c>'), draw_exchanges([series()], "c")])
def test_a_drawing_is_saved_as_svg_pdf_and_csv(drawing: Drawing, tmp_path: Path) -> None:
    inline = save_drawing(drawing, tmp_path)
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".csv", ".pdf", ".svg"]
    assert inline.startswith('<svg role="img" aria-label="')
    assert "http" not in inline
    assert "<metadata" not in inline
    with (tmp_path / f"{drawing.name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [list(row) for row in drawing.rows]
    assert all(
        str(value if value is not None else "") == got
        for row, one in zip(drawing.rows, rows, strict=True)
        for value, got in zip(row.values(), one.values(), strict=True)
    )


def test_the_same_drawing_gives_the_same_file(tmp_path: Path) -> None:
    one = series()
    for name in ("a", "b"):
        save_drawing(draw_exchanges([one], "c"), tmp_path / name)
    assert (tmp_path / "a" / "dns_exchange.svg").read_bytes() == (tmp_path / "b" / "dns_exchange.svg").read_bytes()
    assert (tmp_path / "a" / "dns_exchange.pdf").read_bytes() == (tmp_path / "b" / "dns_exchange.pdf").read_bytes()


def with_legend() -> Drawing:
    points = [(1.0, 0.5), (2.0, 1.0)]
    curves = [Curve("", "4g", f"curve {number}", transport_look("doq"), points, 2, 0, {}) for number in range(6)]
    return draw_cdfs("x", curves, CdfAxis("time, ms", "time_ms"), "caption")


def places(drawing: Drawing) -> list[tuple[float, ...]]:
    return [axes.get_position(original=True).bounds for axes in drawing.figure.axes]


def two_rows() -> list[DifferenceRow]:
    known = median(Sample.exact([90.0, 92.0, 95.0]), seed=1)
    return [difference(known, combination) for combination in ("DoQ + H3 0-RTT", "DoH + H3 full, by the stub")]


@pytest.mark.parametrize(("drawing", "wanted"), [(draw_heat_map(cells(), "c"), 1), (with_legend(), 2)])
def test_one_layout_serves_both_files(
    drawing: Drawing, wanted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = drawing.figure.get_layout_engine()
    assert engine is not None
    unplaced = places(drawing)
    execute, passes = engine.execute, []
    monkeypatch.setattr(engine, "execute", lambda figure: passes.append(execute(figure)))
    save_drawing(drawing, tmp_path)
    assert (
        len(passes) == wanted
    )  # the second places the legends that the first made room for; neither file needs another
    assert places(drawing) != unplaced


@pytest.mark.parametrize("draw", [lambda: draw_heat_map(cells(), ""), lambda: draw_differences(two_rows(), "")])
def test_what_has_no_legend_is_in_place_after_one_pass(draw: Callable[[], Drawing], tmp_path: Path) -> None:
    drawing, twice = draw(), draw()
    save_drawing(drawing, tmp_path)
    engine = twice.figure.get_layout_engine()
    assert engine is not None
    with house_style():
        FigureCanvasSVG(twice.figure)
        engine.execute(twice.figure)
        engine.execute(twice.figure)
    inches = 2 * twice.figure.get_size_inches().tolist()
    for one, other in zip(places(drawing), places(twice), strict=True):
        assert all(abs(before - after) * inch < 0.01 for before, after, inch in zip(one, other, inches, strict=True))


def test_nothing_is_drawn_outside_the_figure() -> None:
    """Ink at the very edge would be text cut off."""
    for drawing in (draw_heat_map(cells(), ""), draw_exchanges([series(), series()], "")):
        stream = io.BytesIO()
        drawing.figure.savefig(stream, format="png", dpi=80)
        pixels = np.asarray(Image.open(stream).convert("L"))
        assert (pixels[0] == 255).all()
        assert (pixels[-1] == 255).all()
        assert (pixels[:, 0] == 255).all()
        assert (pixels[:, -1] == 255).all()
