"""A page model as a waterfall: each request's start, wait and receive time in the recording.

Not for: measured loads (`loads`). A model has no host names: hosts are numbers, within their sites.
"""

from resolab.pages.model import PageModel, Resource
from resolab.report.pages.waterfall.loads import Waterfall
from resolab.report.plots import PageEvent, Span, WaterfallRequest


def waterfall_of_page(model: PageModel) -> Waterfall:
    """Return the waterfall of a recording."""
    instants = (("DOMContentLoaded", model.dom_content_loaded_ms), ("load", model.load_ms))
    source = model.source
    return Waterfall(
        name=model.name,
        title=f"{model.name}  as recorded",
        caption=f"Page model {model.name}, as its recording has it ({source.form}, {source.creator or 'unknown maker'}"
        f"{', ' + source.recorded if source.recorded else ''}): one load, no interval. Wait is from the wish to the "
        "first byte, connections included; hosts are numbered, s is the site they belong to.",
        requests=[_request(model, place, one) for place, one in enumerate(model.resources)],
        events=[PageEvent(name, at_ms) for name, at_ms in instants if at_ms is not None],
    )


def _request(model: PageModel, place: int, one: Resource) -> WaterfallRequest:
    site = model.hosts[one.host].site
    spans = []
    if one.first_byte_ms is not None:
        spans.append(Span("wait", one.start_ms, one.first_byte_ms))
        spans.append(Span("receive", one.first_byte_ms, one.first_byte_ms + one.receive_ms))
    return WaterfallRequest(
        label=f"{place} {one.kind.value} h{one.host}.s{site}",
        start_ms=one.start_ms,
        spans=[span for span in spans if span.end_ms > span.start_ms],
        row={
            "resource": place,
            "host": one.host,
            "site": site,
            "kind": one.kind.value,
            "discovery": one.discovery.value,
            "parent": one.parent,
            "status": one.status,
            "wire_bytes": one.wire_bytes,
            "start_ms": one.start_ms,
            "first_byte_ms": one.first_byte_ms,
            "receive_ms": one.receive_ms,
        },
    )
