"""When our own client of a live trial is stopped before it has asked all."""

from typing import Any

import pytest
from live_queries import query

from resolab.trials.live.own_client import QueryCollector, why_fewer


@pytest.mark.parametrize(
    ("rcodes", "stopped"),
    [
        (["NOERROR", "NXDOMAIN", "SERVFAIL"], False),
        ([None, None, "NOERROR", None, None], False),
        ([None, None, None], True),
        (["NOERROR", "REFUSED"], True),
    ],
)
def test_what_stops_it(rcodes: list[Any], stopped: bool) -> None:
    taken = QueryCollector()
    for number, rcode in enumerate(rcodes):
        assert not taken.is_hopeless.is_set()
        taken.take(query(number, 300, rcode=rcode))
    assert taken.is_hopeless.is_set() == stopped
    assert len(taken.queries) == len(rcodes)


@pytest.mark.parametrize(
    ("rcodes", "why"),
    [
        (["NOERROR", "REFUSED"], "the resolver refused"),
        (["NOERROR", None, None, None], "nobody answered any more"),
        ([None, None, None, "NOERROR"], "the 90 s for them were over"),
        (["NOERROR"] * 50, "the 90 s for them were over"),
        ([], "the 90 s for them were over"),
    ],
)
def test_a_resolver_that_answered_to_the_end_is_not_called_silent(rcodes: list[Any], why: str) -> None:
    assert why_fewer([query(number, 300, rcode=rcode) for number, rcode in enumerate(rcodes)]) == why
