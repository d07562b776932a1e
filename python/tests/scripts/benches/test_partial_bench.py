"""What the bench of partial responses makes of exchanges: closed forms of times, and what is behind."""

from typing import Any

import msgspec
import pytest
from recorded_queries import recorded

from benches.dns.flights import Rates
from benches.dns.path_capture import Crossing
from benches.partial import closed_form, drawn, figures, loss
from benches.partial.testbed import NamesExchange
from resolab.plan import Corpus
from resolab.records import DnsTransport, QueryRecord

MS, ONE_WAY_MS, DELAY_MS, UDP, TCP = 1_000_000, 20.0, 100.0, 17, 6
RATES = Rates(ONE_WAY_MS, ONE_WAY_MS, 1e6, 1e6)
QUERY_BYTES, EARLY_BYTES, LATE_BYTES = 97, 222, 122


def question(took_ms: float, response_bytes: int, index: int | None, **changed: Any) -> QueryRecord:
    asked = next(one for one in recorded() if one.dns_transport is DnsTransport.DOUDP and one.failure is None)
    facts = {
        "time_origin_ns": 0,
        "query_response_time_ns": round(took_ms * MS),
        "query_bytes": QUERY_BYTES,
        "response_bytes": response_bytes,
        "partial_response_index": index,
        "asked_alone": index is None,
        "handshake_mode": None,
    }
    return msgspec.structs.replace(asked, **facts | changed)


def datagram(*, up: bool, entered_ms: float, payload_bytes: int, port: int = 4_000) -> Crossing:
    ip_bytes = payload_bytes + 28
    takes_ms = ONE_WAY_MS + ip_bytes * 8 / 1e3
    entered_ns = round(entered_ms * MS)
    return Crossing(up, entered_ns, entered_ns + round(takes_ms * MS), ip_bytes, payload_bytes, UDP, port)


def exchange() -> NamesExchange:
    """Three names in one message: two known at once, 0.5 ms after the query, one late; the client takes 0.25 ms."""
    query = datagram(up=True, entered_ms=0.1, payload_bytes=QUERY_BYTES)
    early = datagram(up=False, entered_ms=query.delivered_ns / MS + 0.5, payload_bytes=EARLY_BYTES)
    late = datagram(up=False, entered_ms=query.delivered_ns / MS + DELAY_MS + 0.25, payload_bytes=LATE_BYTES)
    first_ms, last_ms = (one.delivered_ns / MS + 0.25 for one in (early, late))
    records = [question(first_ms, EARLY_BYTES, 0), question(last_ms, LATE_BYTES, 1), question(first_ms, EARLY_BYTES, 0)]
    return NamesExchange(records, [query, early, late])


def test_what_is_beyond_the_closed_form_is_what_hosts_took() -> None:
    judged = closed_form.judge(exchange(), "full", DELAY_MS, RATES)
    assert judged is not None
    bytes_ms = (QUERY_BYTES + 28 + EARLY_BYTES + 28) * 8 / 1e3
    assert judged.first_closed_form_ms == pytest.approx(2 * ONE_WAY_MS + bytes_ms)
    assert judged.first_beyond_ms == pytest.approx(0.1 + 0.5 + 0.25)
    late_ms = (QUERY_BYTES + 28 + LATE_BYTES + 28) * 8 / 1e3
    assert judged.last_closed_form_ms == pytest.approx(2 * ONE_WAY_MS + late_ms + DELAY_MS)
    assert judged.last_beyond_ms == pytest.approx(0.1 + 0.25 + 0.25)


def test_names_a_round_trip_behind_are_counted_without_the_late_one() -> None:
    records = [question(took_ms, 100, None) for took_ms in (90.0, 91.0, 136.0, 182.0, 400.0)]
    assert figures._behind(NamesExchange(records, []), 91.9) == 2


def test_rounds_with_a_late_name_are_told_from_late_names() -> None:
    rtt_ms = Corpus.from_project().profile(loss.PROFILE).up.one_way_delay_ms * 2
    prompt, late = [question(rtt_ms + 1, 100, None)] * 3, question(rtt_ms * 1.6, 100, None)
    in_message = [NamesExchange(prompt, [])] * 9 + [NamesExchange([late] * 3, [])]
    one_by_one = [NamesExchange(prompt, [])] * 7 + [NamesExchange([*prompt[1:], late], [])] * 3
    found = loss.figure("doudp", in_message, one_by_one)
    assert (found.rounds.treatment.value, found.rounds.baseline.value) == (0.1, 0.3)
    assert found.late_names == pytest.approx((0.1, 0.1))
    assert found.mean_ms[0] == pytest.approx(found.mean_ms[1])
    assert loss.compute_expected_shares(0.015, 20) == pytest.approx((0.0298, 0.4537), abs=1e-4)


def test_drawn_delays_are_the_laws_quantiles_and_each_answer_is_held_against_its_own() -> None:
    delays = drawn.delays_ms(20)
    assert delays == drawn.delays_ms(20) != sorted(delays)
    assert min(delays) == pytest.approx(10.2, abs=0.1)
    assert max(delays) == pytest.approx(216, abs=1)
    assert sum(delay > 10 * 2 ** (1 / 1.2) for delay in delays) == 10  # beyond the law's median
    # Three answers of one size, late by 0, 5 and 30 ms, and each 0.85 ms later than that: what the hosts took.
    query = datagram(up=True, entered_ms=0.1, payload_bytes=QUERY_BYTES)
    answers = [
        datagram(up=False, entered_ms=query.delivered_ns / MS + 0.5 + delay_ms, payload_bytes=EARLY_BYTES)
        for delay_ms in (0.0, 5.0, 30.0)
    ]
    records = [question(one.delivered_ns / MS + 0.25, EARLY_BYTES, place) for place, one in enumerate(answers)]
    beyond = drawn.compute_lateness_ms(NamesExchange(records, [query, *answers]), [5.0, 30.0, 0.0], RATES)
    assert beyond == pytest.approx([0.85] * 3)
    late = [question(took_ms, EARLY_BYTES, place) for place, took_ms in enumerate((50.0, 56.0, 121.0))]
    assert drawn.behind_count(NamesExchange(late, []), [5.0, 30.0, 0.0], 2 * ONE_WAY_MS) == 1
