import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolab.basics.records import ResourceRecord
from resolab.store.har.timings import compute_timings, total_ms


def request(**instants: float | None) -> ResourceRecord:
    given = {"url": "https://a.test/", "initiator_type": "img", "start_ms": 10.0, "next_hop_protocol": "h3"}
    return ResourceRecord(**(given | instants))


FULL = {
    "domain_lookup_start_ms": 12.0,
    "domain_lookup_end_ms": 32.0,
    "connect_start_ms": 33.0,
    "connect_end_ms": 63.0,
    "request_start_ms": 64.0,
    "response_start_ms": 95.0,
    "response_end_ms": 100.0,
}


def test_a_full_handshake_has_every_phase_and_gaps_count_as_blocked() -> None:
    timings = compute_timings(request(**FULL))
    assert timings == {"blocked": 4, "dns": 20, "connect": 30, "ssl": 30, "send": 0, "wait": 31, "receive": 5}
    assert total_ms(timings) == 90


def test_over_tcp_tls_is_the_later_part_of_connecting() -> None:
    over_tcp = FULL | {"next_hop_protocol": "h2"}
    assert compute_timings(request(**over_tcp, secure_connection_start_ms=48.0))["ssl"] == 15
    # Before format 1.6 nobody said where it began; of an open connection it has not happened.
    assert compute_timings(request(**over_tcp))["ssl"] == -1
    open_already = dict.fromkeys(("connect_start_ms", "connect_end_ms"), 12.0)
    assert compute_timings(request(**over_tcp | open_already, secure_connection_start_ms=12.0))["ssl"] == -1


def test_a_request_in_early_data_ends_the_connect_phase() -> None:
    timings = compute_timings(request(**(FULL | {"request_start_ms": 34.5, "response_start_ms": 64.0})))
    assert (timings["connect"], timings["ssl"], timings["wait"]) == (1.5, 1.5, 29.5)
    assert total_ms(timings) == 90
    at_once = compute_timings(request(**(FULL | {"request_start_ms": 33.0})))
    assert (at_once["connect"], at_once["ssl"]) == (0, 0)


def test_a_request_on_an_open_connection_neither_looks_up_nor_connects() -> None:
    same = dict.fromkeys(("domain_lookup_start_ms", "domain_lookup_end_ms", "connect_start_ms", "connect_end_ms"), 12.0)
    timings = compute_timings(request(**(FULL | same)))
    assert (timings["dns"], timings["connect"], timings["ssl"]) == (-1, -1, -1)
    assert timings["blocked"] == 54
    assert total_ms(timings) == 90


def test_withheld_phases_leave_the_whole_time_in_receive() -> None:
    timings = compute_timings(request(response_end_ms=100.0))
    assert timings == {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 0, "receive": 90}
    assert total_ms(timings) == 90


def test_a_request_without_any_answer_has_no_time() -> None:
    assert total_ms(compute_timings(request())) == 0


@given(st.lists(st.floats(0, 5000), min_size=8, max_size=8), st.booleans())
def test_phases_sum_up_to_the_time_from_start_to_end(instants: list[float], early: bool) -> None:
    start, *rest = sorted(instants)
    if early:  # The request before the end of the handshake, as in early data.
        rest[3], rest[4] = rest[4], rest[3]
    resource = request(start_ms=start, **dict(zip(FULL, rest, strict=True)))
    timings = compute_timings(resource)
    assert total_ms(timings) == pytest.approx(rest[-1] - start, abs=0.01)
    assert all(value == -1 or value >= 0 for value in timings.values())
    assert min(timings["send"], timings["wait"], timings["receive"]) >= 0
