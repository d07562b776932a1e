"""Cache states by TTL and repeat, on made-up queries: what is told apart, and what is not known."""

import pytest
from live_queries import query

from resolab.basics.records import CacheState
from resolab.trials.live.cache_state import QueryHistory

FIRST, WITHIN, AFTER = CacheState.FIRST_ASKED, CacheState.WITHIN_TTL, CacheState.AFTER_TTL


def after(*asked: tuple[float, int | None]) -> QueryHistory:
    """What is known after our own queries at some instants, each answered with a TTL."""
    before = QueryHistory()
    for at_s, ttl_s in asked:
        before.note("r", query(at_s, ttl_s))
    return before


@pytest.mark.parametrize(
    ("asked", "at_s", "ttl_s", "state"),
    [
        ([], 0, 60, FIRST),
        ([(0, 60)], 10, 50, WITHIN),
        ([(0, 60)], 10, 60, WITHIN),  # A resolver that does not count down, or several caches: by our history.
        ([(0, 60)], 100, 60, AFTER),
        ([(0, 60)], 60.4, 60, AFTER),  # About its end: an answer with its whole TTL is new.
        ([(0, 2)], 1.2, 1, WITHIN),
        ([(0, 2)], 1.2, 2, AFTER),
        ([(0, 2)], 0.1, 2, WITHIN),
        ([(0, 0)], 0.1, 0, AFTER),  # Never kept.
        ([(0, 60), (100, 55)], 105, 50, WITHIN),
        ([(0, 60)], 200, 20, WITHIN),  # Others asked in between.
    ],
)
def test_our_own_queries_tell(
    asked: list[tuple[float, int | None]], at_s: float, ttl_s: int, state: CacheState
) -> None:
    assert after(*asked).state("r", query(at_s, ttl_s)) == state


def test_others_asked_where_a_ttl_is_counted_down() -> None:
    assert after((0, 300)).state("another", query(1, 300)) is FIRST
    assert after((0, 300)).state("another", query(1, 120)) is WITHIN


def test_names_and_types_are_apart_and_transports_are_not() -> None:
    before = after((0, 60))
    assert before.state("r", query(1, 60, qtype="AAAA")) is FIRST
    assert before.state("r", query(1, 60, qname="other.test.")) is FIRST
    assert before.state("r", query(1, 59, transport="doq")) is WITHIN


def test_a_browsers_look_up_is_known_and_not_its_answer() -> None:
    before = QueryHistory()
    before.note_unseen("r", [("a.test", "A")], 0.0, 4.0)
    assert before.state("r", query(5, 300)) is WITHIN  # It has longer to live than the look-up is old.
    assert before.state("r", query(5, 2)) is None  # Of a short TTL, or counted down: who knows.
    before.note("elsewhere", query(4.5, 20))
    assert before.state("r", query(5, 2)) is WITHIN  # Its owner gives 20.
    assert before.state("r", query(30, 20)) is AFTER


def test_an_answer_with_its_whole_ttl_is_not_what_a_browser_left() -> None:
    before = after((0, 60))
    before.note("r", query(50, 10))
    before.note_unseen("r", [("a.test", "A")], 55.0, 56.0)  # It met what ended at 60.
    assert before.state("r", query(70, 60)) is AFTER
    assert before.state("r", query(70, 46)) is WITHIN
    assert before.state("r", query(57, 60)) is WITHIN  # Of a second ago, most likely.


def test_a_second_less_may_be_rounding() -> None:
    assert after((0, 60)).state("another", query(1, 59)) is FIRST
    assert after((0, 60)).state("r", query(80, 59)) is AFTER
    assert after((0, 60)).state("r", query(1, 59)) is WITHIN


def test_the_soa_of_another_name_counts_down_answers_without_records() -> None:
    before = QueryHistory()
    before.note("another", query(0, None, negative=60))
    assert before.state("r", query(1, None, negative=34)) is FIRST


def test_answers_without_records_count_by_their_soa() -> None:
    before = QueryHistory()
    assert before.state("r", query(0, None, negative=60)) is FIRST
    before.note("r", query(0, None, negative=60))
    assert before.state("r", query(20, None, negative=40)) is WITHIN
    assert before.state("r", query(70, None, negative=60)) is AFTER


def test_failures_say_nothing_of_caches() -> None:
    before = after((0, 60))
    before.note("r", query(5, None, rcode=None))
    before.note("r", query(6, None, rcode="SERVFAIL"))
    assert before.state("r", query(8, 52)) is WITHIN
    failed = QueryHistory()
    failed.note("r", query(0, None, rcode="SERVFAIL"))
    assert failed.state("r", query(1, None, rcode="SERVFAIL")) is None
