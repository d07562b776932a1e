"""The program that watches authoritative servers reads questions off packets, and only questions."""

import runpy
import struct

import pytest

from resolab.extras.internet.box import INSIDE

QUESTION = b"\x03WwW\x04Page\x04test\x00\x00\x1c\x00\x01"


@pytest.fixture(scope="module")
def read_query():
    return runpy.run_path(str(INSIDE / "watch.py"))["read_query"]


def a_packet(message, *, protocol=17, port=53, options=b""):
    udp = struct.pack("!HHHH", 40_000, port, 8 + len(message), 0) + message
    head = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(udp), 0, 0, 64, protocol, 0,
                       bytes([198, 18, 3, 1]), bytes([198, 18, 8, 1]))  # fmt: skip
    return head + options + udp


def a_message(flags=0x0100, question=QUESTION):
    return struct.pack("!HHHHHH", 7, flags, 1, 0, 0, 0) + question


@pytest.mark.parametrize("options", [b"", b"\x01\x01\x01\x00"])
def test_a_query_is_read(read_query, options):
    expected = {"resolver": "198.18.3.1", "qname": "www.page.test.", "qtype": "AAAA"}
    assert read_query(a_packet(a_message(), options=options)) == expected


@pytest.mark.parametrize(
    "packet",
    [
        a_packet(a_message(flags=0x8180)),
        a_packet(a_message(), protocol=6),
        a_packet(a_message(), port=853),
        a_packet(a_message(question=QUESTION[:9])),
        a_packet(b"")[:24],
    ],
    ids=["answer", "tcp", "other_port", "cut", "short"],
)
def test_all_else_is_passed_over(read_query, packet):
    assert read_query(packet) is None
