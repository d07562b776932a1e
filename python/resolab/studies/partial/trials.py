"""The trials of partial responses: many names queried at once, in one message or in a message each.

For: one client a trial, and the times of its answers beside the closed form. Not for: the closed form (`model`), or the
report's section (`sections`).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from resolab.basics.errors import ResolabError
from resolab.basics.protocols import cold_exchange_round_trips
from resolab.basics.records import QueryPurpose, QueryRecord, TrialFlag
from resolab.lab import engine
from resolab.lab.engine import QueryOptions
from resolab.lab.engine.programs import QUERY_TIMEOUT_S
from resolab.plan import Condition, Plan, access_rtt_ms
from resolab.plan.pages.page_file import PAGES_DOMAIN
from resolab.plan.settings import NumberBounds
from resolab.plan.study import StudyDeclaration, StudyTime
from resolab.studies.partial.model import (
    CASES,
    ONE_LATE,
    count_behind,
    count_late,
    list_delays_ms,
    predict_times_ms,
)
from resolab.trials.study.study_trials import StudyResult, StudyTrial, StudyTrials

ONE_MESSAGE, SEPARATE_MESSAGES = "one_message", "separate_messages"
# A message holds at most 64 questions.
_MOST_NAMES = 64


@dataclass(frozen=True, slots=True)
class PartialSettings:
    """The names of a trial."""

    names_count: Annotated[int, NumberBounds(2, _MOST_NAMES)] = 20
    late_ms: Annotated[float, NumberBounds(0, 5_000, "Of the one late name.")] = 150.0


def find_delays_ms(condition: Condition, settings: PartialSettings) -> list[float]:
    """Return the delays of a condition's names; without `study_case`, one name is late."""
    return list_delays_ms(condition.study_case or ONE_LATE, settings.names_count, settings.late_ms)


def predict_answers_ms(condition: Condition, rtt_ms: float, settings: PartialSettings) -> list[float]:
    """Return the times of a condition's answers by the closed form, in their order."""
    round_trips = cold_exchange_round_trips(condition.dns_transport, condition.requested_dns_handshake_mode)
    return predict_times_ms(find_delays_ms(condition, settings), round_trips, rtt_ms)


def _predict_ms(condition: Condition, rtt_ms: float, settings: PartialSettings) -> float:
    return predict_answers_ms(condition, rtt_ms, settings)[-2]


def _trial_s(condition: Condition, rtt_ms: float, settings: PartialSettings) -> float:
    # A ticket takes a connection and a query before.
    priming_ms = 3 * rtt_ms + max(find_delays_ms(condition, settings))
    own_ms = predict_answers_ms(condition, rtt_ms, settings)[-1]
    return (own_ms if condition.requested_dns_handshake_mode == "full" else own_ms + priming_ms) / 1e3


def list_names(case: str | None, settings: PartialSettings) -> list[str]:
    """Return the names of a case; the delay belongs to the name."""
    word = (case or ONE_LATE).replace("_", "-")
    return [f"{word}-{number:02}.{PAGES_DOMAIN}" for number in range(settings.names_count)]


def _add_tables(plan: Plan, _folder: Path) -> str:
    assert plan.study is not None
    settings: PartialSettings = plan.study.settings
    text = ""
    for case in dict.fromkeys(one.study_case or ONE_LATE for one in plan.conditions()):
        delays_ms = list_delays_ms(case, settings.names_count, settings.late_ms)
        for name, delay_ms in zip(list_names(case, settings), delays_ms, strict=True):
            text += f'[[zone]]\nname = "{name}"\ntype = "A"\nvalue = "192.0.2.81"\n'
            text += f'[[name]]\nname = "{name}"\ndelay_ms = {delay_ms}\n' if delay_ms else ""
    return text


async def _run(trial: StudyTrial) -> StudyResult:
    lab, condition, settings = trial.lab, trial.condition, trial.settings
    options = QueryOptions(
        handshake=condition.requested_dns_handshake_mode,
        questions_per_message=settings.names_count,
        one_by_one=condition.study_arm == SEPARATE_MESSAGES,
    )
    names = list_names(condition.study_case, settings)
    queries = await engine.run_queries(
        lab.path.ready.pid, [trial.resolver], names, options, key_log_file=lab.keeper.key_log_file
    )
    rtt_ms = access_rtt_ms(lab.profiles[condition.profile]) + condition.resolver_extra_rtt_ms
    return sum_up([one for one in queries if one.purpose is QueryPurpose.MEASURED], condition, rtt_ms, settings)


def sum_up(
    queries: Sequence[QueryRecord], condition: Condition, rtt_ms: float, settings: PartialSettings
) -> StudyResult:
    """Compute the values of a trial from its queries."""
    # One query at its limit lifts the mean of all at least so far; the last answer even more.
    limit_ms = QUERY_TIMEOUT_S * 1e3 / len(queries)
    failed = next((one for one in queries if one.failure is not None), None)
    if failed is not None:
        return StudyResult({}, limit_ms, queries, failed.failure, failed.failure_detail)
    times_ms = sorted(one.query_response_time_ns / 1e6 for one in queries if one.query_response_time_ns is not None)
    if len(times_ms) < len(queries):
        raise ResolabError("a query ended without a failure and without a response time")
    delays_ms = find_delays_ms(condition, settings)
    predicted_ms = predict_answers_ms(condition, rtt_ms, settings)
    values = {
        "before_last_ms": times_ms[-2],
        "first_ms": times_ms[0],
        "last_ms": times_ms[-1],
        "mean_ms": statistics.fmean(times_ms),
        "behind_count": float(count_behind(times_ms, delays_ms, rtt_ms)),
        "late_count": float(count_late(times_ms, predicted_ms, rtt_ms)),
        "names_count": float(len(times_ms)),
    }
    return StudyResult(values, limit_ms, queries, flags=find_flags(queries, condition))


def find_flags(queries: Sequence[QueryRecord], condition: Condition) -> list[TrialFlag]:
    """Flag another handshake than requested, and names in messages of their own where one message was requested."""
    first = min(queries, key=lambda one: one.sequence)
    flags = []
    if first.handshake_mode not in (None, condition.requested_dns_handshake_mode):
        flags.append(TrialFlag.DNS_HANDSHAKE_MISMATCH)
    if condition.study_arm == ONE_MESSAGE and any(one.asked_alone for one in queries):
        flags.append(TrialFlag.NOTHING_GATHERED)
    return flags


def _describe(name: str, label: str, words: str) -> StudyTime:
    meaning = f"time from wanting all names, before any connection, to {words}"
    return StudyTime(name=name, label=label, phrase=f"time to {words}", meaning=meaning)


TRIALS = StudyTrials(
    declaration=StudyDeclaration(
        times=(
            _describe("before_last", "last but one", "the last answer but one"),
            _describe("first", "first", "the first answer"),
            _describe("last", "last", "the last answer"),
            _describe("mean", "mean", "the answers, on average"),
        ),
        arms=(ONE_MESSAGE, SEPARATE_MESSAGES),
        cases=CASES,
        factors=("requested_dns_handshake_mode", "resolver_extra_rtt_ms"),
        settings=PartialSettings,
        closed_form="k x RTT + the name's delay in both arms, with k round trips of a first exchange",
        predict_ms=_predict_ms,
        trial_s=_trial_s,
    ),
    run=_run,
    add_tables=_add_tables,
)
