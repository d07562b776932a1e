"""Phases add up to the query response time, and overlapping ones are told apart."""

import msgspec
import pytest
from recorded_queries import DEAD, DOQ, DOT, UDP, recorded

from resolab.extras.queries import QueryPhase, timeline, wire_exchange_ns
from resolab.extras.queries.phases import sum_by_phase

PHASES = ("bootstrap", "tcp_connect", "tls_handshake", "quic_handshake", "query_exchange")


def answered(resolver):
    return next(one for one in recorded() if one.resolver == resolver and one.query_response_time_ns is not None)


def with_phases(total_ns, **spans):
    times = dict.fromkeys([f"{phase}_{which}_ns" for phase in PHASES for which in ("start", "end")])
    for phase, (start, end) in spans.items():
        times |= {f"{phase}_start_ns": start, f"{phase}_end_ns": end}
    return msgspec.structs.replace(answered(UDP), query_response_time_ns=total_ns, **times)


@pytest.mark.parametrize("resolver", [UDP, DOT, DOQ])
def test_they_add_up_to_the_response_time(resolver):
    for record in recorded():
        if record.resolver == resolver and record.query_response_time_ns is not None:
            assert sum(length for _, length in timeline(record)) == record.query_response_time_ns
            assert sum(sum_by_phase(record).values()) == record.query_response_time_ns
            assert sum_by_phase(record)[QueryPhase.QUERY_EXCHANGE] > 0


def test_without_a_response_time_there_are_none():
    assert timeline(next(one for one in recorded() if one.resolver == DEAD)) == []


def test_phases_in_a_row():
    record = with_phases(100, tcp_connect=(10, 30), tls_handshake=(30, 60), query_exchange=(65, 100))
    expected = [("other", 10), ("tcp_connect", 20), ("tls_handshake", 30), ("other", 5), ("query_exchange", 35)]
    assert timeline(record) == expected


def test_early_data_is_in_its_exchange_from_the_moment_it_leaves():
    record = with_phases(100, quic_handshake=(0, 80), query_exchange=(10, 90))
    assert timeline(record) == [("quic_handshake", 10), ("query_exchange", 80), ("other", 10)]
    at_once = with_phases(100, quic_handshake=(0, 80), query_exchange=(0, 100))
    assert timeline(at_once) == [("query_exchange", 100)]


def test_the_connect_after_a_truncated_response_is_not_the_exchange():
    record = with_phases(100, query_exchange=(0, 100), tcp_connect=(20, 50))
    assert timeline(record) == [("query_exchange", 20), ("tcp_connect", 30), ("query_exchange", 50)]


def test_a_bootstrap_inside_the_clock_is_a_phase():
    record = with_phases(100, bootstrap=(0, 40), query_exchange=(40, 100))
    assert timeline(record) == [("bootstrap", 40), ("query_exchange", 60)]


def test_the_wire_time_is_between_the_kernels_stamps():
    record = answered(UDP)
    assert wire_exchange_ns(msgspec.structs.replace(record, kernel_transmit_ns=None)) is None
    assert wire_exchange_ns(msgspec.structs.replace(record, kernel_transmit_ns=5, kernel_receive_ns=25)) == 20
