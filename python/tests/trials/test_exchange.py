"""Exchanges: the client's options of each condition, the measured queries, and their flags."""

from dataclasses import replace

import msgspec
import pytest
from recorded_queries import recorded

from resolab.basics.records import (
    ConnectionState,
    DnsTransport,
    Failure,
    HandshakeMode,
    QueryPurpose,
    QuestionPacking,
    TrialFlag,
)
from resolab.plan import Condition, Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.store.outcomes import RESPONSE_TIME, Contribution
from resolab.trials.exchange.judgement import exchange_flags, mark_warm_up
from resolab.trials.exchange.runner import choose_options

PLAN = load_plan(PROJECT_ROOT / "plans" / "exchange-handshakes.toml", Corpus.from_project())
FULL = next(one for one in PLAN.conditions() if one.id == "4g.doq.full")
WARM = replace(FULL, dns_connection_state=ConnectionState.WARM, idle_gap_ms=200)
SOME = next(one for one in recorded() if one.dns_transport is DnsTransport.DOQ and one.failure is None)
COLD_QUERY = msgspec.structs.replace(
    SOME, sequence=0, purpose=QueryPurpose.MEASURED, connection=ConnectionState.COLD, handshake_mode=HandshakeMode.FULL,
    query_response_time_ns=2_000_000, limit_ns=10_000_000_000, asked_alone=None,
)  # fmt: skip


def query(**changes):
    return msgspec.structs.replace(COLD_QUERY, **changes)


@pytest.mark.parametrize(
    ("condition", "arguments"),
    [
        (FULL, ["--connection", "cold", "--handshake", "full", "--count", "1"]),
        (
            replace(FULL, requested_dns_handshake_mode=HandshakeMode.ZERO_RTT),
            ["--connection", "cold", "--handshake", "zero_rtt"],
        ),
        (WARM, ["--connection", "warm", "--handshake", "full", "--count", "2", "--interval-ms", "200"]),
        (replace(FULL, names_count=3), ["--questions-per-message", "3", "--one-by-one"]),
        (replace(FULL, names_count=3, question_packing=QuestionPacking.ONE_MESSAGE), ["--questions-per-message", "3"]),
    ],
)
def test_the_client_gets_a_conditions_levels(condition: Condition, arguments: list[str]) -> None:
    told = choose_options(condition).arguments()
    assert [one for one in arguments if one not in told] == []
    assert ("--one-by-one" in told) == ("--one-by-one" in arguments)


def test_the_limit_of_a_client_counts_its_priming_and_its_rounds() -> None:
    assert choose_options(FULL).longest_s(1) == pytest.approx(10)
    primed = choose_options(replace(FULL, requested_dns_handshake_mode=HandshakeMode.RESUMED))
    assert primed.longest_s(1) == pytest.approx(20)
    assert choose_options(WARM).longest_s(1) == pytest.approx(2 * 10.2)


def test_the_first_round_of_a_warm_exchange_is_its_warm_up() -> None:
    queries = mark_warm_up([query(sequence=1, connection=ConnectionState.WARM), query(sequence=0)], 1)
    assert [one.purpose for one in queries] == [QueryPurpose.PRIMING, QueryPurpose.MEASURED]
    assert exchange_flags(queries, WARM) == []
    assert RESPONSE_TIME.contribution_of_records(queries) == Contribution(2.0, 10_000.0)


@pytest.mark.parametrize(
    ("queries", "condition", "flags"),
    [
        ([query()], FULL, []),
        ([], FULL, []),
        ([query(handshake_mode=HandshakeMode.RESUMED)], FULL, [TrialFlag.DNS_HANDSHAKE_MISMATCH]),
        ([query()], WARM, [TrialFlag.DNS_CONNECTION_MISMATCH]),
        ([query(connection=ConnectionState.WARM)], WARM, []),
        ([query(dns_transport=DnsTransport.DOT)], FULL, [TrialFlag.DNS_TRANSPORT_MISMATCH]),
        ([query(handshake_mode=None, failure=Failure.QUERY_TIMEOUT)], FULL, []),
        (
            [query(asked_alone=True), query(sequence=1, asked_alone=True, connection=ConnectionState.WARM)],
            replace(FULL, names_count=2, question_packing=QuestionPacking.ONE_MESSAGE),
            [TrialFlag.NOTHING_GATHERED],
        ),
    ],
)
def test_what_was_not_as_requested_is_flagged(queries, condition: Condition, flags: list[TrialFlag]) -> None:
    assert exchange_flags(queries, condition) == flags


def test_the_last_response_counts_and_one_failure_makes_the_limit() -> None:
    both = [query(), query(sequence=1, query_response_time_ns=7_500_000)]
    assert RESPONSE_TIME.contribution_of_records(both) == Contribution(7.5, 10_000.0)
    failed = [query(), query(sequence=1, query_response_time_ns=None, failure=Failure.QUERY_TIMEOUT)]
    assert RESPONSE_TIME.contribution_of_records(failed) == Contribution(None, 10_000.0)
    assert RESPONSE_TIME.contribution_of_records([query(purpose=QueryPurpose.PRIMING)]) is None
