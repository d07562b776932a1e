import pytest

from resolab.basics.protocols import (
    cold_exchange_round_trips,
    express_in_round_trips,
    page_handshake_round_trips,
    remainder_ms,
    wire_time_ms,
)


def test_round_trips_of_full_handshakes() -> None:
    transports = ("doudp", "dotcp", "dot", "doh", "doq", "doh3")
    assert [cold_exchange_round_trips(one) for one in transports] == [1, 2, 3, 3, 2, 2]


def test_only_early_data_saves_a_round_trip_and_only_where_there_is_a_handshake() -> None:
    assert [cold_exchange_round_trips(one, "zero_rtt") for one in ("dot", "doh", "doq", "doh3")] == [2, 2, 1, 1]
    assert [cold_exchange_round_trips(one, "zero_rtt") for one in ("doudp", "dotcp")] == [1, 2]
    assert cold_exchange_round_trips("doq", "resumed") == 2
    assert page_handshake_round_trips("h3", "full") == page_handshake_round_trips("h3", "resumed") == 1
    assert page_handshake_round_trips("h3", "zero_rtt") == 0
    assert page_handshake_round_trips("h2", "full") == 2


def test_times_in_round_trips() -> None:
    assert express_in_round_trips(183_704_622, 91.852311) == pytest.approx(2)
    assert remainder_ms(196.04, 91.85, 2) == pytest.approx(12.34)
    # A padded QUIC datagram on the DSL uplink of the 2024 study.
    assert wire_time_ms(1_294, 0.842152e6) == pytest.approx(12.3, abs=0.05)
