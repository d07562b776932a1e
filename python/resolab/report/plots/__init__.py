"""Figures: numbers in; SVG, PDF and the CSV of the drawn values out.

For: drawing estimates from other modules, in a single style readable in grey print. Not for: computing them.
"""

from resolab.basics.protocols import transport_label
from resolab.report.plots.cdf import CdfAxis, Curve, CurveStyle, draw_cdfs, resolver_look, transport_look
from resolab.report.plots.connection_savings import PagePoint, draw_by_connections
from resolab.report.plots.difference import DifferenceRow, draw_differences
from resolab.report.plots.exchange import ExchangeSeries, draw_exchanges
from resolab.report.plots.forest import draw_forest
from resolab.report.plots.forest_layout import ForestGroup, ForestLine, ForestMark, ForestWords
from resolab.report.plots.heat_map import HeatCell, draw_heat_map
from resolab.report.plots.name_counts import NamesPoint, draw_by_names
from resolab.report.plots.save import Drawing, embedded, save_drawing, save_file, write_csv
from resolab.report.plots.save_all import save_drawings
from resolab.report.plots.shift_function import ShiftLine, draw_shift_functions
from resolab.report.plots.verdicts import Verdict
from resolab.report.plots.waterfall import PageEvent, Span, WaterfallRequest, draw_waterfall, shorten_label
from resolab.report.plots.words import (
    ABSENT,
    combination_label,
    estimate_text,
    interval_text,
    level_label,
    mode_label,
    number_text,
)

__all__ = [
    "ABSENT",
    "CdfAxis",
    "Curve",
    "CurveStyle",
    "DifferenceRow",
    "Drawing",
    "ExchangeSeries",
    "ForestGroup",
    "ForestLine",
    "ForestMark",
    "ForestWords",
    "HeatCell",
    "NamesPoint",
    "PageEvent",
    "PagePoint",
    "ShiftLine",
    "Span",
    "Verdict",
    "WaterfallRequest",
    "combination_label",
    "draw_by_connections",
    "draw_by_names",
    "draw_cdfs",
    "draw_differences",
    "draw_exchanges",
    "draw_forest",
    "draw_heat_map",
    "draw_shift_functions",
    "draw_waterfall",
    "embedded",
    "estimate_text",
    "interval_text",
    "level_label",
    "mode_label",
    "number_text",
    "resolver_look",
    "save_drawing",
    "save_drawings",
    "save_file",
    "shorten_label",
    "transport_label",
    "transport_look",
    "write_csv",
]
