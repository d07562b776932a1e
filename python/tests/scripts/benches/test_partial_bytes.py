"""What the bench of partial responses makes of an exchange's bytes: by layer, and beside what the protocols say."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from recorded_queries import recorded

from benches.dns.path_capture import Crossing
from benches.partial import expected_bytes, layers, sizes
from benches.partial.layers import Layers
from benches.partial.testbed import NamesExchange
from resolab.basics.records import DnsTransport, QueryRecord

UDP, TCP, CLIENT_PORT = 17, 6, 40_000
TRANSPORTS = {one.value: one for one in DnsTransport}


def question(transport: str, query_bytes: int, response_bytes: int, index: int | None, **changed: Any) -> QueryRecord:
    asked = next(one for one in recorded() if one.dns_transport is DnsTransport.DOUDP and one.failure is None)
    facts = {
        "dns_transport": TRANSPORTS[transport],
        "query_bytes": query_bytes,
        "response_bytes": response_bytes,
        "partial_response_index": index,
        "asked_alone": index is None,
    }
    return msgspec.structs.replace(asked, **facts | changed)


def in_message(transport: str, **changed: Any) -> NamesExchange:
    """Twenty names: nineteen answers in the first message, one in the second."""
    records = [question(transport, 384, 936, 0, **changed)] * 19 + [question(transport, 384, 468, 1, **changed)]
    return NamesExchange(records, [])


def one_by_one(transport: str, **changed: Any) -> NamesExchange:
    return NamesExchange([question(transport, 128, 468, None, **changed)] * 20, [])


@pytest.mark.parametrize(
    ("transport", "message", "alone"),
    [
        ("doudp", (1404, 384), (9360, 2560)),
        ("dotcp", (1408, 386), (9400, 2600)),
        ("dot", (1408, 386), (9400, 2600)),
        ("doq", (1408, 386), (9400, 2600)),
        # As captures of 4G showed them, frame by frame.
        ("doh", (1501, 567), (9956, 3437)),
        ("doh3", (1472, 497), (9884, 3348)),
    ],
)
def test_messages_have_their_frames(transport: str, message: tuple[int, int], alone: tuple[int, int]) -> None:
    assert expected_bytes.expect(in_message(transport), "full").application == message
    assert expected_bytes.expect(one_by_one(transport), "full").application == alone


def test_handshakes_are_hellos_certificate_and_what_proves_them() -> None:
    hellos = {"client_hello_bytes": 1462, "server_hello_bytes": 1210, "certificate_bytes": 428, "alpn": "dot"}
    assert expected_bytes.expect(one_by_one("dot", **hellos), "full").handshake == (1787, 1498)
    # Tickets' sizes are the server's, and so are QUIC's transport parameters.
    resumed = hellos | {"certificate_bytes": None, "client_hello_bytes": 1545}
    assert expected_bytes.expect(one_by_one("dot", **resumed), "zero_rtt").handshake == (None, 1585)
    assert expected_bytes.expect(one_by_one("doq", **resumed), "zero_rtt").handshake == (None, 1581)
    assert expected_bytes.expect(one_by_one("doq", **hellos), "full").handshake == (None, 1498)
    assert expected_bytes.expect(one_by_one("dotcp"), "full").handshake == (None, None)


def datagrams() -> NamesExchange:
    """Two queries of 97 and two responses of 122 bytes, a port each."""
    records = [question("doudp", 97, 122, None)] * 2
    crossings = [
        Crossing(up, 0, 1, payload + 28, payload, UDP, port)
        for port in (1, 2)
        for up, payload in ((True, 97), (False, 122))
    ]
    return NamesExchange(records, crossings, layers.count_messages(crossings))


def test_over_udp_packets_are_the_messages_and_nothing_else() -> None:
    whole = datagrams()
    assert all(sizes.is_as_expected(whole, "full", up=up) for up in (False, True))
    again = [*whole.crossings, whole.crossings[0]]
    assert not sizes.is_as_expected(
        replace(whole, crossings=again, layers=layers.count_messages(again)), "full", up=True
    )
    longer = [*whole.crossings[:-1], replace(whole.crossings[-1], payload_bytes=123, ip_bytes=151)]
    wrong = replace(whole, crossings=longer, layers=layers.count_messages(longer))
    assert sizes.is_as_expected(wrong, "full", up=True)
    assert not sizes.is_as_expected(wrong, "full", up=False)


def test_every_byte_that_crossed_must_have_been_read_and_have_its_layer() -> None:
    exchange = one_by_one("doh", client_hello_bytes=1461, server_hello_bytes=1210, certificate_bytes=428, alpn="h2")
    up = Layers(packet_count=2, packet_headers=104, protection=145, handshake=1497, application=3437)
    down = Layers(packet_count=2, packet_headers=104, protection=541, handshake=1786, application=9956)
    crossings = [Crossing(one is up, 0, 1, one.total // 2, 0, TCP, 1) for one in (up, down) for _ in range(2)]
    crossings[0] = replace(crossings[0], ip_bytes=up.total - crossings[1].ip_bytes)
    crossings[2] = replace(crossings[2], ip_bytes=down.total - crossings[3].ip_bytes)
    whole = replace(exchange, crossings=crossings, layers=(down, up))

    def verdicts(one: NamesExchange) -> list[bool]:
        return [sizes.is_as_expected(one, "full", up=way) for way in (False, True)]

    assert verdicts(whole) == [True, True]
    assert verdicts(replace(whole, layers=None)) == [False, False]
    assert verdicts(replace(whole, crossings=crossings[1:])) == [True, False]
    # What should have been a message is one of HTTP's heads, by the same total.
    moved = replace(up, application=up.application - 1, protection=up.protection + 1)
    assert verdicts(replace(whole, layers=(down, moved))) == [True, False]
    # A signature may be shorter, not longer; a server may say that it goes.
    for layer, by, is_right in (("handshake", -4, True), ("handshake", 1, False), ("application", 17, True)):
        changed = replace(down, **{layer: getattr(down, layer) + by})
        longer = [*crossings[:2], replace(crossings[2], ip_bytes=crossings[2].ip_bytes + by), crossings[3]]
        assert verdicts(replace(whole, crossings=longer, layers=(changed, up)))[0] is is_right


def field(name: str, size: int = 0, show: str = "", inner: str = "", showname: str = "") -> str:
    return f'<field name="{name}" size="{size}" show="{show}" showname="{showname}">{inner}</field>'


def packet(transport: str, payload: int, protocols: str = "", *, up: bool = True, port: int = 853) -> str:
    source, destination = (CLIENT_PORT, port) if up else (port, CLIENT_PORT)
    ports = field(f"{transport}.srcport", show=str(source)) + field(f"{transport}.dstport", show=str(destination))
    headers = 52 if transport == "tcp" else 28
    length = field("tcp.len", show=str(payload)) if transport == "tcp" else field("udp.length", show=str(payload + 8))
    ip = f'<proto name="ip">{field("ip.len", show=str(headers + payload))}</proto>'
    return f'<packet>{ip}<proto name="{transport}">{ports}{length}</proto>{protocols}</packet>'


def record(size: int, kind: int, handshake: int = 0, *, is_sealed: bool = True) -> str:
    inner = field("tls.record.content_type", show=str(kind)) + (field("tls.handshake", handshake) if handshake else "")
    inner += field("tls.record.opaque_type", show="23") if is_sealed else ""
    return field("tls.record", size, inner=inner)


def tls(*records: str) -> str:
    return f'<proto name="tls">{"".join(records)}</proto>'


def read(*packets: str) -> Any:
    return layers.sum_by_flow(f"<pdml>{''.join(packets)}</pdml>".encode())


def test_records_of_tls_are_taken_apart() -> None:
    flows = read(
        packet("tcp", 0),
        packet("tcp", 1448, tls()),  # the first segment of a record that ends in the next one
        packet("tcp", 19, tls(record(1467, 22, is_sealed=False))),
        packet("tcp", 605, tls(record(6, 20, is_sealed=False), record(599, 22)), up=False),
        packet("tcp", 432, tls(record(408, 23), record(24, 21))),
    )
    down, up = flows[TCP, CLIENT_PORT]
    assert up == Layers(4, 4 * 52, protection=5 + 22 + 24, handshake=1462, application=386)
    assert down == Layers(1, 52, protection=6 + 22, handshake=577)
    assert up.total == 4 * 52 + 1448 + 19 + 432


def test_a_connection_is_left_out_of_which_a_part_cannot_be_read() -> None:
    sealed = tls(record(408, 23, is_sealed=False))
    assert read(packet("tcp", 408, sealed)) == {}
    assert read(packet("tcp", 1448, tls())) == {}
    assert read(packet("udp", 35, '<proto name="quic" size="35"></proto>')) == {}
    assert read(packet("udp", 10, '<proto name="icmp"></proto>')) == {}
    assert list(read(packet("tcp", 30, port=53))) == [(TCP, CLIENT_PORT)]


def test_frames_of_quic_are_taken_apart_even_where_tshark_says_that_one_has_a_size_of_1() -> None:
    crypto = field("quic.frame", 1145, inner=field("quic.crypto.crypto_data", 1141), showname="CRYPTO")
    padding = field("quic.frame", 8, showname="PADDING Length: 8")
    header = field("quic.frame_type", 1) + field("quic.stream.stream_id", 2) + field("quic.stream.offset", 2)
    stream = field("quic.frame", 1, inner=header + field("quic.stream_data", 224), showname="STREAM id=80")
    ack = field("quic.frame", 5, showname="ACK")
    long = f'<proto name="quic" size="1200">{crypto}{padding}</proto>'
    short = f'<proto name="quic" size="260">{stream}{ack}</proto>'
    (_, up) = read(packet("udp", 1460, long + short))[UDP, CLIENT_PORT]
    assert up == Layers(1, 28, protection=47 + 26, handshake=1141, control=4 + 5 + 5, padding=8, application=224)
