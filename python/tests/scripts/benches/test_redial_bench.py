"""What the bench of redials makes of queries, and the closed forms it holds them against."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from recorded_queries import recorded

from benches.common.progress import Progress
from benches.dns.cold import rates
from benches.redial import figures, model, testbed
from resolab.errors import ResolabError
from resolab.records import ConnectionState, DnsTransport, HandshakeMode, QueryRecord

MS = 1_000_000
DOT = testbed.ClientCell("dot", "full")


def bench(**changed: Any) -> figures.RedialBench:
    facts = {"profiles": ["4g"], "queries_count": 5, "mean_gap_ms": 500} | changed
    return figures.RedialBench(scratch=Path("/nowhere"), progress=Progress(0.0), **facts)


def query(took_ms: float, connection: ConnectionState, **changed: Any) -> QueryRecord:
    found = next(one for one in recorded() if one.dns_transport is DnsTransport.DOUDP and one.failure is None)
    facts = {"query_response_time_ns": round(took_ms * MS), "connection": connection}
    return msgspec.structs.replace(found, **facts | changed)


def test_closed_forms() -> None:
    assert model.redial_share(0, 500) == 1
    assert model.redial_share(500, 500) == pytest.approx(math.exp(-1))
    # Connections of two round trips that are opened for every query: what averages of 60 ms over 20 ms mean.
    assert model.mean_response_ms(20, 3, 1.0) == pytest.approx(60)
    assert model.mean_response_ms(20, 3, 0.0) == pytest.approx(20)
    assert [model.queries_to_amortise(trips, 0.05) for trips in (1, 2, 3)] == [1, 20, 40]
    assert model.queries_to_amortise(3, 0.1) == 20


def test_the_first_query_is_nobodys_redial_and_times_are_held_against_the_redials_that_were() -> None:
    rtt_ms = rates("4g").rtt_ms
    cold, warm = ConnectionState.COLD, ConnectionState.WARM
    took = [(3 * rtt_ms + 9, cold), (rtt_ms + 1, warm), (3 * rtt_ms + 1, cold), (rtt_ms + 1, warm), (rtt_ms + 1, warm)]
    one = figures._figure(bench(), "4g", DOT, [query(*it) for it in took], 350)
    assert (one.redialed.value, one.queries_count) == (0.25, 4)
    assert one.beyond_ms == pytest.approx(1, abs=1e-3)
    assert one.mean_ms == pytest.approx(1.5 * rtt_ms + 1, abs=1e-3)
    assert one.redialed_expected == pytest.approx(math.exp(-0.7))
    assert one.mean_expected_ms == pytest.approx(rtt_ms * (1 + 2 * math.exp(-0.7)))


@pytest.mark.parametrize(("more_ms", "missed_count"), [(2.9, 0), (3.1, 1), (-3.1, 1)])
def test_a_mean_beside_its_closed_form_is_missed(more_ms: float, missed_count: int) -> None:
    late = [query(rates("4g").rtt_ms + more_ms, ConnectionState.WARM)] * 5
    part = figures._redials(bench(), [figures._figure(bench(), "4g", DOT, late, 1150)])
    assert part.missed_count == missed_count


def test_every_transport_with_connections_has_its_handshakes() -> None:
    every = figures.cells()
    assert [one for one in every if one.transport in {"doudp", "dotcp"}] == [testbed.ClientCell("dotcp", "full")]
    assert len(every) == len(set(every)) == 13


def test_what_failed_and_what_is_missing_is_said() -> None:
    def lines(*records: QueryRecord) -> bytes:
        return b"\n".join(map(msgspec.json.encode, records))

    good = query(1, ConnectionState.WARM, handshake_mode=HandshakeMode.FULL)
    with pytest.raises(ResolabError, match="a handshake was full"):
        testbed._read_measured(lines(good), testbed.ClientCell("dot", "resumed"), 1)
    assert len(testbed._read_measured(lines(good, good), DOT, 2)) == 2
    with pytest.raises(ResolabError, match="1 queries of 2"):
        testbed._read_measured(lines(good), DOT, 2)
    failed = next(one for one in recorded() if one.failure is not None)
    with pytest.raises(ResolabError, match="a query failed"):
        testbed._read_measured(lines(good, failed), DOT, 2)
