"""Resolvers side by side: sorted as given, paired by name and round, timeouts as at least the deadline."""

import msgspec
from recorded_queries import DEAD, DOQ, DOT, NAMES, RESOLVERS, ROUNDS, UDP, recorded

from resolab.basics.records import ConnectionState, Failure, QueryPurpose
from resolab.extras.queries import group_arms, select_measured
from resolab.extras.queries.summary import PAIRS_AT_MOST, summaries

TIMEOUT_MS = 10_000


def arms(records, resolvers=RESOLVERS, keeps_connections=False):
    return group_arms(select_measured(records), resolvers, keeps_connections=keeps_connections)


def queries(resolver, times_ms, **changes):
    """Made-up rounds of one name; None is a timeout."""
    sample = next(one for one in recorded() if one.resolver == UDP)
    failed = {"failure": Failure.QUERY_TIMEOUT}
    return [
        msgspec.structs.replace(
            sample, resolver=resolver, query_response_time_ns=None if ms is None else round(ms * 1e6),
            **(failed if ms is None else {}), **changes,
        )
        for ms in times_ms
    ]  # fmt: skip


def test_arms_are_in_the_order_given_whatever_the_order_asked():
    assert [arm.resolver for arm in arms(recorded())] == RESOLVERS
    assert [arm.resolver for arm in arms(recorded(), RESOLVERS[::-1])] == RESOLVERS[::-1]
    bare = ["127.7.7.7:9", "127.7.7.7:5353", DOT, DOQ]
    assert [arm.resolver for arm in arms(recorded(), bare)] == [DEAD, UDP, DOT, DOQ]


def test_every_measured_query_is_counted_and_no_priming():
    assert {one.purpose for one in recorded()} == {QueryPurpose.MEASURED, QueryPurpose.PRIMING}
    for one in summaries(arms(recorded()), timeout_ms=TIMEOUT_MS):
        assert one.count == ROUNDS * len(NAMES)


def test_a_dead_resolver_has_failures_and_no_times():
    dead = summaries(arms(recorded()), timeout_ms=TIMEOUT_MS)[-1]
    assert dead.failures == {"query_refused": ROUNDS * len(NAMES)}
    assert (dead.times, dead.difference, dead.phases_ms) == (None, None, {})


def test_differences_are_of_pairs_and_found_against_the_first():
    slow = [1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0]
    records = queries(UDP, slow) + queries(DOT, [ms + 0.5 + ms / 1000 for ms in slow])
    first, second = summaries(arms(records), timeout_ms=TIMEOUT_MS)
    assert first.difference is None
    assert (first.times.median, first.times.least, first.times.most) == (5.0, 1.0, 9.0)
    assert abs(second.difference.value - 0.505) < 0.001
    assert second.difference.ci_contains_zero is False
    assert second.difference.n == len(slow)


def test_the_same_against_itself_is_within_noise():
    records = queries(UDP, [1, 2, 3, 4, 5, 6, 7, 8]) + queries(DOT, [2, 1, 4, 3, 6, 5, 8, 7])
    _, second = summaries(arms(records), timeout_ms=TIMEOUT_MS)
    assert second.difference.ci_contains_zero is True


def test_a_timeout_is_longer_than_everything_and_no_pair_is_lost():
    records = queries(UDP, [1.0] * 8) + queries(DOT, [2.0] * 7 + [None])
    _, second = summaries(arms(records), timeout_ms=TIMEOUT_MS)
    assert second.times.median == 2.0
    assert second.times.most == float("inf")
    assert second.failures == {"query_timeout": 1}
    assert (second.difference.n, second.difference.value) == (8, 1.0)


def test_fewer_pairs_than_an_interval_needs_give_no_difference():
    records = queries(UDP, [1.0, 2.0, 3.0, 4.0, 5.0]) + queries(DOT, [2.0, 3.0, 4.0, 5.0, 6.0])
    assert summaries(arms(records), timeout_ms=TIMEOUT_MS)[1].difference is None


def test_very_many_pairs_are_thinned_for_the_interval_only():
    count = 3 * PAIRS_AT_MOST
    records = queries(UDP, [1.0] * count) + queries(DOT, [2.0] * count)
    _, second = summaries(arms(records), timeout_ms=TIMEOUT_MS)
    assert (second.count, second.difference.n) == (count, PAIRS_AT_MOST)


def test_queries_that_opened_a_kept_connection_stand_apart():
    opening = queries(DOT, [9.0], connection=ConnectionState.COLD)
    warm = queries(DOT, [1.0] * 7, connection=ConnectionState.WARM)
    both = opening + warm + queries(UDP, [0.5] * 8, connection=None)
    kept = summaries(arms(both, [UDP, DOT], keeps_connections=True), timeout_ms=TIMEOUT_MS)
    assert [(one.arm.resolver, one.arm.opening, one.count) for one in kept] == [
        (UDP, False, 8), (DOT, False, 7), (DOT, True, 1),
    ]  # fmt: skip
    assert kept[1].times.most == 1.0
    # The first round has no pair: its query opened the connection.
    assert kept[1].difference.n == 7
    assert kept[2].difference is None
    assert len(arms(both, [UDP, DOT])) == 2
