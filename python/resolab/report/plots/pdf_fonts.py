"""Fonts in PDFs without their layout tables, unused in a PDF.

For: saving time. Reading substitutions and positions of thousands of glyphs is a third of the time of saving a figure,
and the text of a PDF is already laid out. Not for: choosing fonts (`style`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fontTools import subset

_LAYOUT = ("GDEF", "GPOS", "GSUB", "MATH")


@contextmanager
def drop_layout_tables() -> Iterator[None]:
    """Embed fonts without their layout tables while the context is open."""
    load_font = subset.load_font

    def load(*arguments: Any, **options: Any) -> Any:
        font = load_font(*arguments, **options)
        for table in _LAYOUT:
            if table in font:
                del font[table]
        return font

    subset.load_font = load
    try:
        yield
    finally:
        subset.load_font = load_font
