import pytest
from made_packets import pcap as pcap_file
from made_packets import pcapng, question, tcp, udp

from benches.dns import matching, path_capture, pcap

PORT, CLIENT_PORT = 5301, 40_000
SYN = 0x02


def test_a_tcpdump_file_is_read_with_nanoseconds_and_true_lengths(tmp_path):
    file = tmp_path / "lo.pcap"
    asked = question("a.many.test")
    packets = [
        (5_000_000_123, tcp(PORT, CLIENT_PORT, bytes(300), sequence=9)),
        (1_000_000_007, udp(CLIENT_PORT, PORT, asked)),
    ]
    file.write_bytes(pcap_file(packets, snap=120))
    query, response = pcap.read(file)
    assert (query.time_ns, query.protocol, query.source_port, query.payload) == (1_000_000_007, 17, CLIENT_PORT, asked)
    assert (response.time_ns, response.protocol, response.destination_port) == (5_000_000_123, 6, CLIENT_PORT)
    # 120 bytes were kept; the length is the wire's.
    assert (response.payload_bytes, response.sequence, len(response.payload)) == (300, 9, 120 - 14 - 20 - 32)


@pytest.mark.parametrize(("change", "says"), [({"magic": 0xA1B2C3D4}, "nanoseconds"), ({"link": 113}, "Ethernet")])
def test_other_captures_are_refused(tmp_path, change, says):
    file = tmp_path / "other.pcap"
    file.write_bytes(pcap_file([], **change))
    with pytest.raises(ValueError, match=says):
        pcap.read(file)


def test_the_paths_capture_gives_both_stamps_on_the_records_clock(tmp_path):
    file = tmp_path / "path.pcapng"
    opening, query = tcp(CLIENT_PORT, 53, b"", flags=SYN), tcp(CLIENT_PORT, 53, b"12345")
    answer, lost = tcp(53, CLIENT_PORT, b"123456789"), udp(CLIENT_PORT, 53, b"1")
    file.write_bytes(
        pcapng(
            [("up", 100, 200, opening), ("up", 150, 250, query), ("down", 300, 400, answer), ("up", 350, None, lost)]
        )
    )
    first, second, third = path_capture.read(file)
    assert (first.up, first.entered_ns, first.delivered_ns, first.opens, first.says_something) == (
        True,
        100,
        200,
        True,
        True,
    )
    assert (second.payload_bytes, second.ip_bytes, second.client_port) == (5, 57, CLIENT_PORT)
    assert (third.up, third.entered_ns, third.delivered_ns) == (False, 300, 400)


def test_equal_packets_are_paired_in_their_order(tmp_path):
    file = tmp_path / "path.pcapng"
    same = udp(CLIENT_PORT, 53, b"same")
    file.write_bytes(pcapng([("up", 100, 200, same), ("up", 110, 210, same)]))
    assert [(one.entered_ns, one.delivered_ns) for one in path_capture.read(file)] == [(100, 200), (110, 210)]


def packet(time_ns, source, destination, payload_bytes=0, *, payload=b"", sequence=0, protocol=6):
    return pcap.Packet(time_ns, protocol, source, destination, payload_bytes or len(payload), payload, sequence)


def up(time_ns, payload_bytes, **more):
    return packet(time_ns, CLIENT_PORT, PORT, payload_bytes, **more)


def down(time_ns, payload_bytes, **more):
    return packet(time_ns, PORT, CLIENT_PORT, payload_bytes, **more)


def test_names_are_matched_over_udp_and_tcp_whatever_their_case():
    first, second = question("A.many.test"), b"\0\x1d" + question("b.many.test")
    packets = [
        up(100, 0, payload=first, protocol=17),
        down(150, 0, payload=first.replace(b"A", b"a"), protocol=17),
        up(200, 0, payload=second),
        down(270, 0, payload=second),
        up(300, 0, payload=question("unanswered.many.test"), protocol=17),
    ]
    assert matching.match_by_name(packets, PORT) == {"a.many.test": 50, "b.many.test": 70}


def test_a_response_to_another_port_is_not_the_querys():
    asked = question("a.many.test")
    packets = [up(100, 0, payload=asked, protocol=17), packet(150, PORT, 41_000, payload=asked, protocol=17)]
    assert matching.match_by_name(packets, PORT) == {}


def test_empty_and_repeated_segments_and_other_times_do_not_count():
    packets = [
        up(50, 10, sequence=0),
        up(100, 10, sequence=10),
        up(110, 10, sequence=10),
        down(120, 0, sequence=5),
        down(130, 20, sequence=5),
        packet(140, 1, 2, 10),
        up(900, 10, sequence=20),
    ]
    picked = matching.select_server_packets(packets, PORT, 60, 500)
    assert [(one.time_ns, one.payload_bytes) for one in picked] == [(100, 10), (130, 20)]


def test_windows_take_the_last_packets_that_can_hold_the_messages():
    window = matching.Window(100, 500, 128, 468)
    packets = [
        up(90, 150),
        up(120, 140),
        up(130, 150),
        down(200, 35),
        down(300, 500),
        up(310, 31),
        down(320, 40),
        up(510, 150),
    ]
    empty = matching.Window(505, 600, 128, 468)
    assert matching.match_by_window(packets, PORT, [window, empty]) == [300 - 130, None]


def test_order_skips_handshakes_small_frames_and_alerts():
    packets = [
        *(up(1, 404), down(2, 1305), up(3, 74), down(4, 255)),
        # A query as HEADERS and DATA, a settings acknowledgement between, a response in two segments.
        *(up(10, 60), up(11, 76), down(12, 31), down(15, 60), down(17, 90)),
        *(up(30, 76), down(42, 150)),
        *(up(50, 24), down(51, 24)),
    ]
    assert matching.match_by_order(packets, PORT, matching.TLS_MESSAGE_BYTES, 2) == [17 - 11, 42 - 30]


@pytest.mark.parametrize("message", [b"", bytes(12), question("a.test")[:15], bytes(12) + b"\xc0\x0c"])
def test_what_is_no_question_has_no_name(message):
    assert matching.question_name(message) is None
