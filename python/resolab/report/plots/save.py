"""Write a finished drawing to disk: SVG, PDF and the CSV of the drawn values.

For: the files of a figure and its SVG for embedding. Not for: drawing.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from resolab.basics.wording import clean, escape_xml_controls
from resolab.report.plots.pdf_fonts import drop_layout_tables
from resolab.report.plots.style import house_style
from resolab.store import write_named

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its name, its caption and its rows of drawn values."""

    name: str
    caption: str
    figure: Figure
    rows: Sequence[Mapping[str, Value]]
    narrow: Figure | None = None
    """The same figure for a narrow screen, embedded in HTML beside the wide one and not saved."""


def save_drawing(drawing: Drawing, folder: Path) -> str:
    """Write `name.svg`, `name.pdf` and `name.csv`; return the SVG for embedding in HTML."""
    folder.mkdir(parents=True, exist_ok=True)
    title = clean(drawing.name)
    with house_style():
        svg = _svg(drawing.figure, title)
        pdf = folder / f"{drawing.name}.pdf"
        with drop_layout_tables():
            drawing.figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Title": title})
    (folder / f"{drawing.name}.svg").write_text(svg, "utf-8")
    write_csv(drawing.rows, folder / f"{drawing.name}.csv")
    return _embedded(drawing, svg)


def embedded(drawing: Drawing) -> str:
    """Return the SVG for embedding in HTML, without writing files."""
    with house_style():
        return _embedded(drawing, _svg(drawing.figure, clean(drawing.name)))


def _embedded(drawing: Drawing, svg: str) -> str:
    if drawing.narrow is None:
        return inline_svg(svg, drawing.caption)
    with house_style():
        narrow = _svg(drawing.narrow, clean(drawing.name))
    return inline_svg(svg, drawing.caption, "wide") + inline_svg(narrow, drawing.caption, "narrow")


def _svg(figure: Figure, title: str) -> str:
    stream = io.StringIO()
    _lay_out(figure)
    figure.savefig(stream, format="svg", metadata={"Date": None, "Title": title})
    return stream.getvalue()


def _lay_out(figure: Figure) -> None:
    """Compute the layout once for both files.

    With a layout engine, `savefig` computes the layout for each file and draws twice.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        FigureCanvasSVG(figure)  # becomes the figure's canvas; it measures text as both files have it, unhinted
        engine.execute(figure)
        if figure.legends or any(axes.get_legend() is not None for axes in figure.axes):
            engine.execute(figure)  # legends below the axes move again (by 28 points) once there is room for them
        figure.set_layout_engine(None)


PNG_DPI = 200
"""The resolution of raster files."""


def save_file(drawing: Drawing, file: Path) -> None:
    """Write only the drawing, in the format of the file's suffix."""
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(file.suffix, {})
    drawn = io.BytesIO()
    with house_style():
        metadata = {**undated, "Title": clean(drawing.name)}
        drawing.figure.savefig(drawn, format=file.suffix.removeprefix("."), metadata=metadata, dpi=PNG_DPI)
    write_named(file, drawn.getvalue())


def write_csv(rows: Sequence[Mapping[str, Value]], file: Path) -> None:
    """Write rows with the same columns to a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def inline_svg(svg: str, label: str, screen: str | None = None) -> str:
    """Turn an SVG file into an HTML element without prologue, metadata or addresses, labelled for screen readers.

    The element's class is its screen, `wide` or `narrow`. A page shows one of both; a browser ignores a clip path or a
    pattern defined in the hidden one, so the narrow element's identifiers differ from the wide one's.
    """
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", element)
    escaped = escape_xml_controls(label).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    if screen == "narrow":
        element = re.sub(r'(\bid="|href="#|url\(#)', r"\1narrow-", element)
    shown = "" if screen is None else f' class="{screen}"'
    return element.replace("<svg", f'<svg role="img"{shown} aria-label="{escaped}"', 1)
