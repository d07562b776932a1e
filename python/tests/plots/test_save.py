"""A PDF's fonts: the glyphs that were drawn, as text, and no tables of layout."""

import re
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from fontTools import subset
from fontTools.ttLib import TTFont
from matplotlib.figure import Figure

from resolab.report.plots import Drawing, save_drawing
from resolab.report.plots.pdf_fonts import drop_layout_tables


def fonts_in(pdf: bytes) -> list[TTFont]:
    streams = (
        zlib.decompress(one) for one in re.findall(rb"/FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    )
    return [TTFont(BytesIO(one)) for one in streams if one.startswith(b"\x00\x01\x00\x00")]


def test_fonts_have_their_glyphs_and_nothing_of_their_layout(tmp_path: Path) -> None:
    figure = Figure(layout="constrained")
    figure.subplots().set_title("fi AV")
    save_drawing(Drawing("one", "a caption", figure, [{"x": 1}]), tmp_path)
    fonts = fonts_in((tmp_path / "one.pdf").read_bytes())
    assert fonts
    for font in fonts:
        assert {"glyf", "hmtx"} <= set(font.keys())
        assert not {"GSUB", "GPOS", "GDEF", "MATH"} & set(font.keys())
    # A ligature is laid out before: its glyph is there without the rule that made it.
    assert {"fi", "A", "V"} <= {name for font in fonts for name in font.getGlyphOrder()}


def test_fonts_are_read_as_before_afterwards() -> None:
    usual = subset.load_font
    with pytest.raises(KeyError), drop_layout_tables():
        raise KeyError
    assert subset.load_font is usual
