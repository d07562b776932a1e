import pytest

from benches.dns import flights
from benches.dns.cold import table
from benches.dns.path_capture import Crossing
from resolab.basics.protocols import ExchangeSizes

TCP, UDP, PORT = 6, 17, 40_000
ONE_WAY = 1_000
FAST = flights.UNLIMITED
HEADERS = 52
DSL = flights.Rates(21.0, 21.0, 842_152.0, 10_734_760.0)


def segment(up, entered_ns, payload_bytes, *, takes=ONE_WAY, opens=False, port=PORT):
    ip_bytes = 60 if opens else HEADERS + payload_bytes
    return Crossing(up, entered_ns, entered_ns + takes, ip_bytes, payload_bytes, TCP, port, opens)


def datagram(up, entered_ns, payload_bytes, *, takes=ONE_WAY, port=PORT):
    return Crossing(up, entered_ns, entered_ns + takes, 28 + payload_bytes, payload_bytes, UDP, port)


DOT = [
    segment(True, 10, 0, opens=True),
    segment(False, 1_015, 0, opens=True),
    segment(True, 2_020, 0),
    segment(True, 2_050, 240),
    segment(False, 3_060, 0),
    segment(False, 3_100, 700),
    segment(True, 4_105, 0),
    segment(True, 4_150, 64),
    segment(True, 4_160, 150),
    segment(False, 5_200, 492),
    # Behind the response: its acknowledgement and the closing.
    segment(True, 6_201, 0),
    segment(True, 6_210, 24),
    segment(False, 6_290, 500, takes=50),
]


def test_a_full_dot_exchange_has_three_round_trips_and_its_bytes():
    path = flights.critical_path(DOT, 0, 6_230, 128, 468, FAST)
    assert [one.up for one in path] == [True, False] * 3
    assert [one.packets for one in path] == [(60,), (60,), (52, 292), (52, 752), (52, 116, 202), (544,)]
    assert [one.waited_ns for one in path] == [10, 5, 35, 50, 60, 40]


def test_packets_behind_the_decisive_one_do_not_count():
    # A slow link delivers the client's last datagram after the server has gone on.
    flow = [
        datagram(True, 10, 1_200),
        datagram(True, 20, 300, takes=3_000),
        datagram(False, 1_100, 1_200),
        datagram(False, 1_110, 500),
        datagram(False, 1_120, 60, takes=5_000),
    ]
    path = flights.critical_path(flow, 0, 2_200, 128, 468, FAST)
    assert [one.packets for one in path] == [(1_228,), (1_228, 528)]


def test_packets_in_the_way_count_though_they_carry_nothing_wanted():
    flow = [datagram(True, 10, 1_200), datagram(True, 15, 200), datagram(False, 1_250, 480), datagram(False, 1_260, 30)]
    path = flights.critical_path(flow, 0, 2_255, 128, 468, FAST)
    assert [one.packets for one in path] == [(1_228, 228), (508,)]


def test_what_is_still_on_the_way_onto_a_slow_line_counts():
    """QUIC on a slow uplink: the padded acknowledgement of the server's first datagram, when the second one comes."""
    rate = flights.Rates(0.001, 0.001, 8e9, None)  # a byte a nanosecond
    flow = [
        datagram(True, 0, 1_172, takes=2_200),
        datagram(False, 2_200, 1_172),
        datagram(False, 2_900, 100),
        datagram(True, 3_200, 1_172, takes=2_200),  # sent from 3,200 to 4,400
        datagram(True, 3_900, 172, takes=1_700),  # waits till 4,400, is sent until 4,600
        datagram(False, 5_600, 472),
    ]
    path = flights.critical_path(flow, 0, 6_600, 128, 468, rate)
    assert [one.packets for one in path] == [(1_200,), (1_200, 128), (200,), (500,)]
    assert [one.left_bytes for one in path] == [0, 0, 500, 0]
    assert path[2].ip_bytes == 700
    # Of the same packets a link without a rate keeps nothing.
    assert [one.left_bytes for one in flights.critical_path(flow, 0, 6_600, 128, 468, FAST)] == [0] * 4


def test_an_exchange_that_begins_with_the_server_is_an_error():
    with pytest.raises(ValueError, match="do not begin"):
        flights.critical_path([datagram(False, 10, 500)], 0, 2_000, 50, 400, FAST)


def test_the_flow_is_the_one_that_began_during_the_exchange():
    before, other = segment(True, 5, 100, port=39_000), segment(True, 150, 40, port=39_000)
    flow = [segment(True, 120, 0, opens=True), segment(False, 1_200, 0, opens=True)]
    assert flights.flow_of([before, *flow, other], 100, 2_000) == flow
    with pytest.raises(ValueError, match="0 flows"):
        flights.flow_of([before], 100, 2_000)
    with pytest.raises(ValueError, match="2 flows"):
        flights.flow_of([*flow, segment(True, 130, 0, opens=True, port=41_000)], 100, 2_000)


def test_the_closed_form_is_round_trips_and_bytes_over_rates():
    assert DSL.closed_form_ms(3, 0, 0) == pytest.approx(126.0)
    assert DSL.closed_form_ms(1, 842_152 / 8_000, 10_734_760 / 8_000) == pytest.approx(44.0)
    assert flights.Rates(5.0, 7.0, None, None).closed_form_ms(2, 1e6, 1e6) == pytest.approx(24.0)


def test_a_cells_table_has_medians_and_an_exchange_with_its_round_trips():
    whole = flights.critical_path(DOT, 0, 6_230, 128, 468, FAST)
    longer = [*whole[:-1], flights.Flight(False, (600,), 0, 0, 0)]
    found = table([whole, longer, whole], ExchangeSizes(128, 468))
    assert (found.round_trips, found.up_bytes, found.down_bytes) == (3, 60 + 344 + 370, 60 + 804 + 544)
    assert [one["packets_bytes"] for one in found.flights][-1] == [544]
