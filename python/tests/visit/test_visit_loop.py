"""The loop and how much of it fits: against loads that are made up, on a clock that is."""

import asyncio
from collections.abc import Sequence

import pytest
from made_up_loads import PAGES, SIX, page_load

from resolab.basics.records import (
    Bootstrap,
    ConnectionState,
    DnsTransport,
    ForwardedFor,
    PageFailure,
    PingMethod,
    PingRecord,
    QueryPurpose,
    QueryRecord,
    Record,
)
from resolab.extras.visit import (
    PlannedVisitLoad,
    VisitExtent,
    VisitLoad,
    extent,
    order,
    pairs_needed,
    read_load_result,
    visit_all,
    warn_of_few_pairs,
)
from resolab.plan.manners import HARD_CAPS

VISIT = PlannedVisitLoad(PAGES[0], SIX[2], 1)


class PretendedLoader:
    """Takes its time and remembers whom it was asked for."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now_s = seconds, 100.0
        self.asked: list[PlannedVisitLoad] = []

    def __call__(self) -> float:
        return self.now_s

    async def load(self, visit: PlannedVisitLoad, number: int) -> Sequence[Record]:
        assert number == len(self.asked)
        self.asked.append(visit)
        self.now_s += self.seconds
        return [page_load(visit.url, 100.0)]


def visited(loads_count: int, *, seconds: float, may_end_early: bool) -> tuple[PretendedLoader, list[VisitLoad]]:
    loader, found = PretendedLoader(seconds), list[VisitLoad]()
    visits = order(PAGES, SIX, loads_count=loads_count, seed=1)
    until = visit_all(
        visits,
        loader,
        VisitExtent(3, 6, loads_count),
        may_end_early=may_end_early,
        on_loaded=found.append,
        clock=loader,
    )
    asyncio.run(until)
    assert loader.asked == visits[: len(found)]
    return loader, found


def test_three_pages_over_six_resolvers_fit_into_three_minutes_with_enough_pairs() -> None:
    found = extent(PAGES, 6, loads_count=None, caps=HARD_CAPS)
    assert found.loads_count == 4
    assert found.seconds < 170
    assert 3 * (found.loads_count - 1) >= pairs_needed(6)
    assert warn_of_few_pairs(found) is None


def test_one_page_is_loaded_more_often_and_many_are_loaded_twice() -> None:
    assert extent(PAGES[:1], 2, loads_count=None, caps=HARD_CAPS).loads_count == 11
    many = [f"https://site{number}.test/" for number in range(40)]
    assert extent(many, 6, loads_count=None, caps=HARD_CAPS).loads_count == 2
    assert extent(PAGES, 6, loads_count=9, caps=HARD_CAPS).loads_count == 9


def test_the_caps_of_a_site_hold_for_all_its_pages() -> None:
    lower = HARD_CAPS.lower({"loads_per_site_per_hour": 40})
    assert extent(PAGES[:1], 12, loads_count=None, caps=lower).loads_count == 3
    of_one = ["https://www.a.test/1", "https://www.a.test/2", "https://b.test/"]
    assert extent(of_one, 6, loads_count=None, caps=lower).loads_count == 3


def test_it_is_told_beforehand_that_there_will_be_too_few_pairs() -> None:
    told = warn_of_few_pairs(VisitExtent(3, 6, 2))
    assert told is not None
    assert "it takes 9; give --loads 4" in told


def test_all_are_loaded_where_the_time_suffices() -> None:
    _, found = visited(4, seconds=2.0, may_end_early=True)
    assert len(found) == 72


def test_slow_loads_end_the_visit_between_blocks() -> None:
    loader, found = visited(4, seconds=3.0, may_end_early=True)
    assert len(found) == 54
    assert loader.now_s - 100 < 170
    loader, found = visited(4, seconds=6.0, may_end_early=True)
    assert len(found) == 24, "one block of the second round"
    assert loader.now_s - 100 < 170
    _, found = visited(4, seconds=30.0, may_end_early=True)
    assert len(found) == 18, "one round at least"


def test_a_page_that_nobody_could_load_is_not_loaded_again() -> None:
    class Failing(PretendedLoader):
        async def load(self, visit: PlannedVisitLoad, number: int) -> Sequence[Record]:
            self.asked.append(visit)
            dead = visit.url == PAGES[1] or (visit.url == PAGES[2] and visit.configuration != SIX[4])
            return [page_load(visit.url, None, failure=PageFailure.CONNECT) if dead else page_load(visit.url, 1.0)]

    loader, found = Failing(1.0), list[VisitLoad]()
    visits = order(PAGES, SIX, loads_count=3, seed=1)
    asyncio.run(visit_all(visits, loader, VisitExtent(3, 6, 3), may_end_early=True, on_loaded=found.append))
    assert [sum(one.visit.url == page for one in found) for page in PAGES] == [18, 6, 18]
    assert [one.visit for one in found] == loader.asked


def test_a_number_that_was_given_is_kept_to() -> None:
    _, found = visited(4, seconds=30.0, may_end_early=False)
    assert len(found) == 72


def query(ms: float | None, connection: ConnectionState | None, *, forwarded: bool = False) -> QueryRecord:
    return QueryRecord(
        dns_transport=DnsTransport.DOT,
        resolver="tls://198.18.2.1",
        bootstrap=Bootstrap.GIVEN,
        qname="a.test",
        qtype="A",
        purpose=QueryPurpose.MEASURED,
        sequence=0,
        time_origin_ns=0,
        connection=connection,
        query_response_time_ns=None if ms is None else round(ms * 1e6),
        query_bytes=30,
        attempt_count=1,
        addresses=[],
        forwarded_for=ForwardedFor(client_address="127.0.0.1:9") if forwarded else None,
    )


def test_a_load_is_read_from_its_records() -> None:
    ping = PingRecord(
        address="198.18.2.1",
        time_origin_ns=0,
        method=PingMethod.ICMP,
        rtt_ns=[20_000_000, None],
        failures=[None, None],
        passed_over=[],
    )
    queries = [
        query(61, ConnectionState.COLD),
        query(20.5, ConnectionState.WARM),
        query(None, ConnectionState.WARM),
        query(99, ConnectionState.COLD, forwarded=True),
    ]
    found = read_load_result(VISIT, [page_load(PAGES[0], 321.0), *queries, ping])
    assert (found.plt_ms, found.failure, found.counts) == (321.0, None, True)
    assert (found.opening_ms, found.look_up_ms, found.ping_ms) == ([61], [20.5], [20])
    assert read_load_result(VISIT, [query(12, None)]).failure is PageFailure.DRIVER


@pytest.mark.parametrize(
    ("failure", "counts"), [(PageFailure.DNS, True), (PageFailure.HTTP_STATUS, True), (PageFailure.LEFT_ALONE, False)]
)
def test_a_failed_load_has_no_time_of_its_own(failure: PageFailure, counts: bool) -> None:
    found = read_load_result(VISIT, [page_load(PAGES[0], 55.0, failure=failure)])
    assert (found.plt_ms, found.counts) == (None, counts)
