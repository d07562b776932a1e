"""Fonts in PDFs without the tables of their layout, which a PDF has no use for.

For: time; reading substitutions and positions of thousands of glyphs is a third of what saving a figure costs, and the
text of a PDF is laid out already. Not for: which fonts are drawn with (`style`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fontTools import subset

_LAYOUT = ("GDEF", "GPOS", "GSUB", "MATH")


@contextmanager
def without_layout_tables() -> Iterator[None]:
    """Embed fonts without their layout tables while the block runs."""
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
