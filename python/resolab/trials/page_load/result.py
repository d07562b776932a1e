"""The result of a trial: its records, and flags for careful reading.

For: pure functions from everything seen during a trial to its result. Not for: running the trial (`testbed`), or the
facts about a single load (`judgement`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from resolab.basics.records import (
    INSTRUMENT_FAILURES,
    MEASURED_LABEL,
    PageFailure,
    PageLoadRecord,
    PathSummaryRecord,
    QueryRecord,
    Record,
    TrialFlag,
)
from resolab.browser import LoadResult
from resolab.lab.layout import PageSite
from resolab.trials.page_load import judgement, records_of_load
from resolab.trials.page_load.judgement import LoadJudgement
from resolab.trials.page_load.lookup import LoadSpan
from resolab.trials.page_load.records_of_load import LoadContext
from resolab.trials.trial_result import TrialResult, path_flags, select_trial_records

LAB_ENDED = frozenset({TrialFlag.EDGE_ENDED, TrialFlag.STUB_ENDED, TrialFlag.GATEWAY_ENDED})


@dataclass(frozen=True, slots=True)
class TrialInstants:
    """The start of each part of a trial, `CLOCK_MONOTONIC`."""

    trial_ns: int
    load_ns: int
    """The end of our own client's exchanges, in ns: the start of the warm-up, if any."""
    measured_ns: int


@dataclass(frozen=True, slots=True)
class TrialObservations:
    """All observations during a trial."""

    site: PageSite
    began: TrialInstants
    load: LoadResult
    exchanges: Sequence[QueryRecord]
    records: Sequence[Record]
    """The records of path, edge and stub; the edge has been flushed."""
    conductor_flags: Sequence[TrialFlag] = field(default=())
    """The flags known only to the runner of the trial: dead programs, and connections left open."""


def trial_result(seen: TrialObservations, loader: LoadContext, *, lateness_p99_ms: float) -> TrialResult:
    """Judge a trial and keep the records belonging to the trial."""
    records = select_trial_records(seen.records, seen.began.trial_ns)
    loads, flags = _loads(seen, records, loader)
    summary = next((r for r in records if isinstance(r, PathSummaryRecord) and r.label == MEASURED_LABEL), None)
    return TrialResult(
        [*loads, *seen.exchanges, *records],
        [*flags, *path_flags(summary, lateness_p99_ms), *seen.conductor_flags],
        failed=any(isinstance(one, PageLoadRecord) and one.measured and one.failure for one in loads),
        overhead_ms=seen.load.overhead.total_ms,
    )


def _loads(
    seen: TrialObservations, records: Sequence[Record], loader: LoadContext
) -> tuple[list[Record], list[TrialFlag]]:
    condition, site, load = loader.condition, seen.site, seen.load
    by_edge = judgement.asks_edge(condition)
    records = judgement.remove_upstream_queries(records, condition)
    found: list[Record] = []
    if load.warmup is not None:
        before = LoadSpan(seen.began.load_ns, seen.began.measured_ns)
        judged = judgement.judge(load.warmup, records, site, before, judgement.cold_states(), by_edge=by_edge)
        found.append(records_of_load.page_load_record(load.warmup, judged, loader))
    span = LoadSpan(seen.began.measured_ns)
    stated = judgement.states_made(condition)
    judged = judgement.judge(load.measured, records, site, span, stated, by_edge=by_edge)
    plt_sum_ms = records_of_load.plt_sum_ms(load.measured, seen.exchanges, condition)
    if judgement.is_redirect(judged.request):
        # Navigation Timing tells the look-up of the document that came in the end, not that of the page's own name.
        plt_sum_ms = None
    failed = load.failure is not None
    missing = None if failed else judgement.count_answered_if_incomplete(records, site, span)
    if missing is not None:
        judged = replace(judged, failure=PageFailure.INCOMPLETE, detail=missing)
    judged = _unless_the_lab_ended(judged, seen)
    found.append(records_of_load.page_load_record(load.measured, judged, loader, plt_sum_ms=plt_sum_ms))
    flags = [
        *judgement.lookup_flags(records, condition, site, span, judged, failed=failed),
        *judgement.flag_gathering(records, condition, span),
        *([] if missing is None else [TrialFlag.RESOURCES_MISSING]),
        *judgement.http_flags(judged.request, condition.http_version, site),
        *judgement.connection_flags(records, judged, span),
    ]
    return [*found, *load.measured.resources], flags


def _unless_the_lab_ended(judged: LoadJudgement, seen: TrialObservations) -> LoadJudgement:
    """Classify a failure caused by a dead part of the lab as the lab's; its death is not a property of any arm."""
    failure = judged.failure
    if failure is None or failure in INSTRUMENT_FAILURES or LAB_ENDED.isdisjoint(seen.conductor_flags):
        return judged
    told = judged.detail or seen.load.measured.failure_detail
    return replace(judged, failure=PageFailure.LAB_ENDED, detail=f"{failure}: {told}" if told else str(failure))
