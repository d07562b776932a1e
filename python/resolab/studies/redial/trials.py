"""The trials of redials: a client with queries at random gaps, on a connection that is closed when idle.

For: one client a trial, and its mean response time beside the closed form. Not for: the closed form (`model`), or the
report's section (`sections`).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from resolab.basics.errors import ResolabError
from resolab.basics.protocols import WITHOUT_CONNECTION, cold_exchange_round_trips
from resolab.basics.records import ConnectionState, QueryRecord, TrialFlag
from resolab.lab import engine
from resolab.lab.engine import QueryOptions
from resolab.lab.engine.programs import QUERY_TIMEOUT_S
from resolab.plan import Condition
from resolab.plan.settings import NumberBounds
from resolab.plan.study import StudyDeclaration, StudyTime
from resolab.studies.redial.model import mean_response_ms, redial_share
from resolab.trials.study.study_trials import StudyResult, StudyTrial, StudyTrials

KEPT_OPEN = "kept_open"
TIMEOUT_GAPS = {"timeout_20_percent": 0.2, "timeout_70_percent": 0.7, "timeout_230_percent": 2.3}
"""Idle timeouts in mean gaps, by arm: 82, 50 and 10 % of the queries redial."""


@dataclass(frozen=True, slots=True)
class RedialSettings:
    """The queries of a trial."""

    queries_count: Annotated[int, NumberBounds(2, 1_000, "After the first query, which opens the connection.")] = 20
    mean_gap_ms: Annotated[int, NumberBounds(10, 10_000, "Between a response and the next query.")] = 100


def find_timeout_ms(condition: Condition, settings: RedialSettings) -> int | None:
    """Return the idle timeout of an arm, in ms; `None` for a connection that is kept open."""
    gaps = TIMEOUT_GAPS.get(condition.study_arm or "")
    return None if gaps is None else max(1, round(gaps * settings.mean_gap_ms))


def expect_redialed_share(condition: Condition, settings: RedialSettings) -> float:
    """Return the expected share of queries with a closed connection."""
    timeout_ms = find_timeout_ms(condition, settings)
    return 0.0 if timeout_ms is None else redial_share(timeout_ms, settings.mean_gap_ms)


def count_cold_round_trips(condition: Condition) -> int:
    """Return the round trips of a query on a new connection."""
    return cold_exchange_round_trips(condition.dns_transport, condition.requested_dns_handshake_mode)


def _predict_ms(condition: Condition, rtt_ms: float, settings: RedialSettings) -> float:
    return mean_response_ms(rtt_ms, count_cold_round_trips(condition), expect_redialed_share(condition, settings))


def _trial_s(condition: Condition, rtt_ms: float, settings: RedialSettings) -> float:
    query_ms = settings.mean_gap_ms + _predict_ms(condition, rtt_ms, settings)
    opening_ms = 2 * count_cold_round_trips(condition) * rtt_ms
    return (opening_ms + settings.queries_count * query_ms) / 1e3


def _find_reason_against(condition: Condition) -> str | None:
    return "there is no connection to close" if condition.dns_transport in WITHOUT_CONNECTION else None


async def _run(trial: StudyTrial) -> StudyResult:
    settings: RedialSettings = trial.settings
    options = QueryOptions(
        handshake=trial.condition.requested_dns_handshake_mode,
        connection=ConnectionState.WARM,
        rounds=settings.queries_count + 1,
        pause_ms=settings.mean_gap_ms,
        gap_seed=trial.seed,
        idle_timeout_ms=find_timeout_ms(trial.condition, settings),
    )
    lab = trial.lab
    qname = lab.sites[trial.condition.page].host
    queries = await engine.run_queries(
        lab.path.ready.pid, [trial.resolver], [qname], options, key_log_file=lab.keeper.key_log_file
    )
    return sum_up(sorted(queries, key=lambda one: one.sequence), trial.condition)


def sum_up(queries: Sequence[QueryRecord], condition: Condition) -> StudyResult:
    """Compute the values of a trial from its queries; the first query opens its connection after any gap."""
    later = queries[1:]
    # One query at its limit lifts the mean of all at least so far.
    limit_ms = QUERY_TIMEOUT_S * 1e3 / max(1, len(later))
    failed = next((one for one in queries if one.failure is not None), None)
    if failed is not None:
        return StudyResult({}, limit_ms, queries, failed.failure, failed.failure_detail)
    opened = [one for one in queries if one.connection is ConnectionState.COLD]
    mismatch = any(one.handshake_mode not in (None, condition.requested_dns_handshake_mode) for one in opened)
    times_ms = [one.query_response_time_ns / 1e6 for one in later if one.query_response_time_ns is not None]
    if len(times_ms) < len(later):
        raise ResolabError("a query ended without a failure and without a response time")
    redialed_count = sum(one.connection is ConnectionState.COLD for one in later)
    values = {"mean_ms": statistics.fmean(times_ms), "redialed_count": redialed_count, "queries_count": len(later)}
    return StudyResult(values, limit_ms, queries, flags=[TrialFlag.DNS_HANDSHAKE_MISMATCH] if mismatch else [])


TRIALS = StudyTrials(
    declaration=StudyDeclaration(
        times=(
            StudyTime(
                name="mean",
                label="mean response",
                phrase="mean response time",
                meaning="mean response time of a client's queries after the first",
            ),
        ),
        arms=(KEPT_OPEN, *TIMEOUT_GAPS),
        factors=("requested_dns_handshake_mode", "resolver_extra_rtt_ms"),
        settings=RedialSettings,
        closed_form="RTT x (1 + (k - 1) x exp(-timeout / gap)), with k round trips of a query on a new connection",
        predict_ms=_predict_ms,
        trial_s=_trial_s,
        impossible=_find_reason_against,
    ),
    run=_run,
)
