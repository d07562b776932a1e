"""The trials of announced names: a document and the addresses of its names, fetched by our own client.

For: one fetch a trial, and the wait for its names beside the closed form. Not for: the closed form (`model`), or the
edge's tables (`edge_tables`).
"""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from resolab.basics.errors import ResolabError
from resolab.basics.records import DnsTransport, Failure, FetchNamesRecord
from resolab.lab import engine
from resolab.lab.lab import Lab
from resolab.plan import Condition, Plan
from resolab.plan.settings import ChoiceOf, NumberBounds
from resolab.plan.study import StudyDeclaration, StudyTime
from resolab.studies.announced import model
from resolab.studies.announced.congestion_control import CongestionControl, set_congestion_control
from resolab.studies.announced.edge_tables import find_url, write_tables
from resolab.studies.announced.model import SEPARATE, SHARED, DocumentCase
from resolab.trials.study.study_trials import StudyResult, StudyTrial, StudyTrials

ANNOUNCEMENTS = ("document", "early_hints", "https_record", "server_push")
_TIMES_MS = tuple(itertools.product((0.0, 150.0), (0.0, 60.0)))
CASES = {
    f"{mode}_{server_ms:g}_{delay_ms:g}": (mode, server_ms, delay_ms)
    for mode in (SEPARATE, SHARED)
    for server_ms, delay_ms in _TIMES_MS
}
"""Connection of the document, its server's time and the delay of each name in ms, by the word of the case."""
FETCH_TIMEOUT_S = 20.0
"""The time limit of a fetch, in s; a longer fetch is a failed fetch."""


@dataclass(frozen=True, slots=True)
class AnnouncedSettings:
    """The names of a document, and TCP."""

    names_count: Annotated[int, NumberBounds(1, 100, "Above 8, answers exceed a first window of ten segments.")] = 8
    congestion_control: Annotated[CongestionControl, ChoiceOf(tuple(CongestionControl))] = CongestionControl.RENO


def find_case(condition: Condition) -> DocumentCase:
    """Return the document of a condition; without `study_case`, the first case."""
    mode, server_ms, delay_ms = CASES[condition.study_case or next(iter(CASES))]
    return DocumentCase(str(condition.study_arm), mode, server_ms, delay_ms)


def _predict_ms(condition: Condition, rtt_ms: float, _settings: AnnouncedSettings) -> float:
    return model.wait_ms(find_case(condition), rtt_ms)


def _trial_s(condition: Condition, rtt_ms: float, _settings: AnnouncedSettings) -> float:
    # The resolver's connection is opened before the clock starts.
    case = find_case(condition)
    return (4 * rtt_ms + max(model.names_ms(case, rtt_ms), model.document_ms(case, rtt_ms))) / 1e3


def _find_reason_against(condition: Condition) -> str | None:
    if condition.dns_transport is not DnsTransport.DOH:
        return "names are announced over HTTP/2, and looked up over DoH"
    if not find_case(condition).is_possible:
        return "only the resolver's own connection may push the resolver's answers"
    return None


def _add_tables(plan: Plan, folder: Path) -> str:
    assert plan.study is not None
    cases = list(dict.fromkeys(map(find_case, plan.conditions())))
    return write_tables(cases, plan.study.settings.names_count, folder)


async def _prepare(lab: Lab, plan: Plan) -> None:
    assert plan.study is not None
    await set_congestion_control(lab.path.ready.pid, plan.study.settings.congestion_control)


async def _run(trial: StudyTrial) -> StudyResult:
    lab, case = trial.lab, find_case(trial.condition)
    resolver = trial.resolver
    mode = "shared_connection" if case.mode == SHARED else SEPARATE
    arguments = ["fetch-names", "--announcement", case.announcement, "--mode", mode, "--resolver", resolver.url]
    arguments += ["--timeout-ms", f"{FETCH_TIMEOUT_S * 1e3:.0f}", *resolver.arguments(), find_url(case)]
    records = await engine.run_client(
        lab.path.ready.pid, arguments, FETCH_TIMEOUT_S, key_log_file=lab.keeper.key_log_file
    )
    fetch = next((one for one in records if isinstance(one, FetchNamesRecord)), None)
    if fetch is None:
        raise ResolabError("the client of names and documents ended without a record")
    return sum_up(fetch)


def sum_up(fetch: FetchNamesRecord) -> StudyResult:
    """Compute the values of a trial from its fetch."""
    limit_ms = FETCH_TIMEOUT_S * 1e3
    if fetch.failure is not None:
        return StudyResult({}, limit_ms, [fetch], fetch.failure, fetch.failure_detail)
    if fetch.name_wait_ns is None or fetch.names_complete_ns is None or fetch.document_first_byte_ns is None:
        return StudyResult({}, limit_ms, [fetch], Failure.OTHER, "a name of the document has no answer")
    values = {
        "wait_ms": fetch.name_wait_ns / 1e6,
        "complete_ms": fetch.names_complete_ns / 1e6,
        "document_ms": fetch.document_first_byte_ns / 1e6,
        "unneeded_count": float(fetch.unneeded_count),
        "refused_push_count": float(fetch.refused_push_count),
    }
    return StudyResult(values, limit_ms, [fetch])


TRIALS = StudyTrials(
    declaration=StudyDeclaration(
        times=(
            StudyTime(
                name="wait",
                label="wait for names",
                phrase="wait for the document's names",
                meaning="longest time from a name's position in the document to the name's answer",
            ),
            StudyTime(
                name="complete",
                label="all names",
                phrase="time to the answers for all names",
                meaning="time from the query for the document's own name to the last answer for a name",
            ),
        ),
        arms=ANNOUNCEMENTS,
        cases=tuple(CASES),
        factors=(),
        settings=AnnouncedSettings,
        closed_form="max(0, names known - document there), by round trips, server time and delay of names",
        predict_ms=_predict_ms,
        trial_s=_trial_s,
        impossible=_find_reason_against,
    ),
    run=_run,
    prepare=_prepare,
    add_tables=_add_tables,
)
