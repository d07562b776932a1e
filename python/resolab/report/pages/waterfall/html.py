"""Page loads as a self-contained HTML page: each with its waterfall and a table of the same instants.

For: `resolab waterfall -o FILE.html`. Not for: choosing loads (`loads`), or their text at a terminal (`text`).
"""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from resolab.basics.wording import escape_xml_controls, format_count
from resolab.report.pages.template import page_template
from resolab.report.pages.waterfall.loads import PHASES_NOTE, Waterfall, draw_load
from resolab.report.plots import WaterfallRequest, embedded, number_text


def waterfall_html(loads: Sequence[Waterfall], dataset_id: str) -> str:
    """Return the HTML page of the loads."""
    title = loads[0].name if len(loads) == 1 else f"{format_count(len(loads), 'page load')}, request by request"
    page = page_template("waterfall.html.j2").render(
        title=title, dataset_id=dataset_id, note=PHASES_NOTE, loads=[_load(one) for one in loads]
    )
    return escape_xml_controls(page)


def _load(one: Waterfall) -> dict[str, Any]:
    phases = list(dict.fromkeys(span.phase for request in one.requests for span in request.spans))
    return {
        "title": one.title,
        "svg": Markup(embedded(draw_load(one, with_narrow=True))),  # noqa: S704
        "columns": ("request", "start, ms", *(f"{phase}, ms" for phase in phases), "end, ms"),
        "rows": [*(_request(each, phases) for each in one.requests), *_events(one, len(phases))],
    }


def _request(one: WaterfallRequest, phases: Sequence[str]) -> tuple[str, ...]:
    lengths = {span.phase: span.length_ms for span in one.spans}
    times = ("" if phase not in lengths else number_text(lengths[phase]) for phase in phases)
    return (one.label, number_text(one.start_ms), *times, number_text(one.end_ms))


def _events(one: Waterfall, phases_count: int) -> list[tuple[str, ...]]:
    return [(event.name, *("" for _ in range(phases_count + 1)), number_text(event.at_ms)) for event in one.events]
