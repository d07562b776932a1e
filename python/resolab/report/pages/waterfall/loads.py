"""Choose a page load of a dataset, and show its records as a waterfall.

For: any measured load by its trial or condition. Not for: drawing (`plots`) or printing (`text`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import PageLoadRecord, ResourceRecord, TrialRecord
from resolab.basics.urls import split_url
from resolab.report.plots import Drawing, PageEvent, Span, WaterfallRequest, draw_waterfall
from resolab.store import (
    dataset_folder,
    find_finished_trials,
    load_manifest,
    open_dataset,
    read_trial,
    refuse_published,
)
from resolab.store.outcomes import PLT, is_usable
from resolab.store.trials import refuse_without_page_loads

if TYPE_CHECKING:
    from resolab.store.rows import LoadRow


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A load: its requests in the order of their start, and the page's events."""

    name: str
    """The name of the trial, or of the page."""
    title: str
    caption: str
    requests: Sequence[WaterfallRequest]
    events: Sequence[PageEvent]


def waterfalls(folder: Path, wanted: str | None = None) -> list[Waterfall]:
    """Return one load by its trial, the median load of a condition, or the median load of every condition.

    The median load is the completed load with the median page load time, the faster of the two in the middle.
    """
    refuse_published(folder, "draw loads of")
    refuse_without_page_loads(folder, "draw loads of")
    trials = find_finished_trials(dataset_folder(folder))
    if wanted in trials:
        return [read_waterfall(folder, wanted)]
    medians = _median_trials(folder)
    if wanted is None:
        return [read_waterfall(folder, trial) for trial in medians.values()]
    if wanted not in medians:
        has = f"trials as {next(iter(trials))}" if trials else "no finished trial"
        names = f" and conditions as {next(iter(medians))}" if medians else ""
        problem = f"it is no finished trial and no condition with a load that ended; the dataset has {has}{names}"
        raise ConfigurationError(f"failed to draw {wanted!r} of {folder}: {problem}")
    return [read_waterfall(folder, medians[wanted])]


def _median_trials(folder: Path) -> dict[str, str]:
    with open_dataset(folder) as dataset:
        loads = [load for load in dataset.measured_loads() if is_usable(load)]
    groups: dict[str, list[LoadRow]] = {}
    for load in loads:
        if load.failure is None and PLT.value_of_load(load) is not None:
            groups.setdefault(load.condition, []).append(load)
    medians = {}
    for condition in sorted(groups):
        ordered = sorted(groups[condition], key=lambda load: (PLT.value_of_load(load) or 0.0, load.trial_id))
        medians[condition] = ordered[(len(ordered) - 1) // 2].trial_id
    return medians


def read_waterfall(folder: Path, trial: str) -> Waterfall:
    """Read the measured load of a trial."""
    records = list(read_trial(find_finished_trials(folder)[trial]))
    load = next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)
    if load is None:
        raise ConfigurationError(f"failed to draw {trial} of {folder}: the trial has no measured load; choose another")
    resources = [one for one in records if isinstance(one, ResourceRecord)]
    condition = next(one.condition for one in records if isinstance(one, TrialRecord))
    host = split_url(load.url).netloc
    requests = [_request(one, host) for one in sorted(resources, key=lambda one: one.start_ms)]
    instants = (("FCP", load.fcp_ms), ("LCP", load.lcp_ms), ("load", load.plt_ms))
    return Waterfall(
        name=trial,
        title=f"{trial}  {condition}" + (f"  failed: {load.failure}" if load.failure else ""),
        caption=_caption(trial, condition, load_manifest(folder).dataset_id),
        requests=requests or [_document(load)],
        events=[PageEvent(name, at_ms) for name, at_ms in instants if at_ms is not None],
    )


PHASES_NOTE = (
    "Look-up, TCP, TLS or QUIC, wait (requestStart to responseStart) and receive of each request as the browser tells "
    "them (W3C Resource Timing); a thin bar is a handshake that went on after the request had left in early data; a "
    "thin line is time before or between phases; an undivided bar is of an origin that does not tell its phases."
)


def _caption(trial: str, condition: str, dataset_id: str) -> str:
    return f"One measured load, trial {trial} ({condition}): n = 1, no interval. {PHASES_NOTE} Dataset {dataset_id}."


def draw_load(waterfall: Waterfall, *, with_narrow: bool = False) -> Drawing:
    """Draw a waterfall as a figure; for a page that has the title itself, also for a narrow screen."""
    return draw_waterfall(
        f"waterfall-{waterfall.name}",
        "" if with_narrow else waterfall.title,
        waterfall.requests,
        waterfall.events,
        waterfall.caption,
        with_narrow=with_narrow,
    )


def _document(load: PageLoadRecord) -> WaterfallRequest:
    """Return the document's request from the load's own record, for a load without resource records.

    Such a load failed before its first byte.
    """
    resource = ResourceRecord(
        url=load.url,
        initiator_type="navigation",
        start_ms=0.0,
        next_hop_protocol=load.next_hop_protocol,
        domain_lookup_start_ms=load.domain_lookup_start_ms,
        domain_lookup_end_ms=load.domain_lookup_end_ms,
        connect_start_ms=load.connect_start_ms,
        connect_end_ms=load.connect_end_ms,
        request_start_ms=load.request_start_ms,
        response_start_ms=load.response_start_ms,
        response_end_ms=load.response_end_ms,
    )
    return _request(resource, split_url(load.url).netloc)


def request_spans(resource: ResourceRecord) -> list[Span]:
    """Return a request's phases, in the order of their start; origins hiding their timing have an undivided phase."""
    handshake = "QUIC" if resource.next_hop_protocol == "h3" else "TLS"
    # Over TCP the handshake begins at secureConnectionStart; QUIC's is one with connecting (RFC 9001 section 4).
    secure = _secure_ms(resource)
    tcp_end = resource.connect_end_ms if secure is None else secure
    phases = (
        ("look-up", resource.domain_lookup_start_ms, resource.domain_lookup_end_ms),
        ("TCP", None if handshake == "QUIC" else resource.connect_start_ms, tcp_end),
        (handshake, secure, resource.connect_end_ms),
        ("wait", resource.request_start_ms, resource.response_start_ms),
        ("receive", resource.response_start_ms, resource.response_end_ms),
    )
    spans = [
        Span(name, start, end) for name, start, end in phases if start is not None and end is not None and end > start
    ]
    if not spans and resource.response_end_ms is not None and resource.response_end_ms > resource.start_ms:
        # Another origin that does not let the page read its phases.
        spans = [Span("undivided", resource.start_ms, resource.response_end_ms)]
    return spans


def _secure_ms(resource: ResourceRecord) -> float | None:
    """Return the start of the TLS or QUIC handshake."""
    return resource.connect_start_ms if resource.next_hop_protocol == "h3" else resource.secure_connection_start_ms


def _request(resource: ResourceRecord, document_host: str) -> WaterfallRequest:
    parts = split_url(resource.url)
    label = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if parts.netloc != document_host:
        label = parts.netloc + label
    return WaterfallRequest(
        label=label,
        start_ms=resource.start_ms,
        spans=request_spans(resource),
        row={
            "url": resource.url,
            "host": parts.hostname,
            "initiator_type": resource.initiator_type,
            "next_hop_protocol": resource.next_hop_protocol,
            "status": resource.status,
            "transfer_size_bytes": resource.transfer_size_bytes,
            "start_ms": resource.start_ms,
            "domain_lookup_start_ms": resource.domain_lookup_start_ms,
            "domain_lookup_end_ms": resource.domain_lookup_end_ms,
            "connect_start_ms": resource.connect_start_ms,
            "secure_connection_start_ms": _secure_ms(resource),
            "connect_end_ms": resource.connect_end_ms,
            "request_start_ms": resource.request_start_ms,
            "response_start_ms": resource.response_start_ms,
            "response_end_ms": resource.response_end_ms,
        },
    )
