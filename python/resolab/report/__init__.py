"""The report: a dataset becomes figures, tables and sentences in one HTML file, and a few lines for the terminal.

For: analysis of whole datasets and its presentation. Not for: statistics (`stats`) or drawing (`plots`).

Modules are loaded on first use: a run must not wait for matplotlib and SciPy before its first trial.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resolab.report.answer.terminal import terminal_summary
    from resolab.report.build import build_report, make_report
    from resolab.report.pages.waterfall.html import waterfall_html
    from resolab.report.pages.waterfall.loads import draw_load, request_spans, waterfalls
    from resolab.report.pages.waterfall.pages import waterfall_of_page
    from resolab.report.pages.waterfall.text import terminal_waterfall

_ON_FIRST_USE = {
    "build_report": "resolab.report.build",
    "make_report": "resolab.report.build",
    "draw_load": "resolab.report.pages.waterfall.loads",
    "request_spans": "resolab.report.pages.waterfall.loads",
    "terminal_summary": "resolab.report.answer.terminal",
    "terminal_waterfall": "resolab.report.pages.waterfall.text",
    "waterfall_html": "resolab.report.pages.waterfall.html",
    "waterfall_of_page": "resolab.report.pages.waterfall.pages",
    "waterfalls": "resolab.report.pages.waterfall.loads",
}

__all__ = [
    "build_report",
    "draw_load",
    "make_report",
    "request_spans",
    "terminal_summary",
    "terminal_waterfall",
    "waterfall_html",
    "waterfall_of_page",
    "waterfalls",
]


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE:
        return getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
