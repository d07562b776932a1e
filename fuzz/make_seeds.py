#!/usr/bin/env python3
"""Write the fuzz targets' seeds: a few small inputs of the right form each, for mutation to start from.

Run this script again after a change; the files in seeds/ are checked in. Not for: a run's findings (see corpus/).
"""

import struct
from pathlib import Path

HERE = Path(__file__).parent
NAME = b"\x01a\x04test\x00"
QUESTION = NAME + b"\x00\x01\x00\x01"
ADDRESS = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x07"


def option(code: int, value: bytes) -> bytes:
    return struct.pack(">HH", code, len(value)) + value


def opt(*options: bytes) -> bytes:
    content = b"".join(options)
    return b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00" + struct.pack(">H", len(content)) + content


COOKIE = option(10, b"\x01" * 8 + b"\x02" * 16)
SUBNET = option(8, b"\x00\x01\x18\x10\xc0\x00\x02")
PADDING = option(12, bytes(16))


def message(flags: int, answers: bytes, answer_count: int, additional: bytes = b"") -> bytes:
    counts = struct.pack(">HHHH", 1, answer_count, 0, 1 if additional else 0)
    return b"\x5a\x5a" + struct.pack(">H", flags) + counts + QUESTION + answers + additional


def behind_length(content: bytes) -> bytes:
    return struct.pack(">H", len(content)) + content


QUERY = message(0x0100, b"", 0, opt(COOKIE))
RESPONSE = message(0x8180, ADDRESS, 1, opt(COOKIE, SUBNET, PADDING))
ALIAS = message(0x8180, b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x02\xc0\x0e", 1)


def several(flags: int, names: list[bytes], answers: list[bytes], data: bytes) -> bytes:
    """Build a message with several questions, and the option of partial responses."""
    counts = struct.pack(">HHHH", len(names), len(answers), 0, 1)
    questions = b"".join(name + b"\x00\x01\x00\x01" for name in names)
    return b"\x5a\x5a" + struct.pack(">H", flags) + counts + questions + b"".join(answers) + opt(option(65421, data))


NAMES = [NAME, b"\x01b\x04test\x00", b"\x01c\x01w\x04test\x00"]
SEVERAL = several(0x0100, NAMES, [], b"\x01")
PARTIAL = several(0x8180, NAMES[:2], [ADDRESS], b"\x01\x00" + b"\x00\x00\x00\x01\x00\x00" + b"\x00\x03" + bytes(4))
LAST = several(0x8180, NAMES[2:], [ADDRESS], b"\x01\x01" + b"\x00\x00\x00\x01\x00\x00")


def tls_extension(kind: int, content: bytes) -> bytes:
    return struct.pack(">HH", kind, len(content)) + content


def client_hello() -> bytes:
    name = b"dns.resolab.test"
    server_name = behind_length(b"\x00" + behind_length(name))
    extensions = tls_extension(0, server_name) + tls_extension(43, b"\x02\x03\x04") + tls_extension(42, b"")
    body = b"\x03\x03" + bytes(32) + b"\x00" + b"\x00\x02\x13\x01" + b"\x01\x00" + behind_length(extensions)
    return b"\x01\x00" + behind_length(body)


def server_hello() -> bytes:
    extensions = tls_extension(43, b"\x03\x04") + tls_extension(41, b"\x00\x00")
    body = b"\x03\x03" + b"\x07" * 32 + b"\x00\x13\x01\x00" + behind_length(extensions)
    return b"\x02\x00" + behind_length(body)


def ipv4(protocol: int, segment: bytes) -> bytes:
    length = 20 + len(segment)
    header = b"\x45\x00" + struct.pack(">H", length) + b"\x00\x00\x40\x00\x40" + bytes([protocol]) + b"\x00\x00"
    return header + b"\x0a\x4d\x00\x02\x0a\x4d\x00\x01" + segment


def ipv6(protocol: int, segment: bytes) -> bytes:
    header = b"\x60\x00\x00\x00" + struct.pack(">H", len(segment)) + bytes([protocol, 64])
    return header + b"\xfd" + bytes(15) + b"\xfd" + bytes(14) + b"\x01" + segment


INITIAL = b"\xc3\x00\x00\x00\x01\x04abcd\x04efgh\x00\x40\x10" + bytes(16)
HANDSHAKE = b"\xe3\x00\x00\x00\x01\x04abcd\x04efgh\x04" + bytes(4)
UDP = b"\x9c\x40\x03\x55" + struct.pack(">H", 8 + len(INITIAL)) + b"\x00\x00" + INITIAL
TCP = b"\x9c\x40\x03\x55\x00\x00\x00\x01\x00\x00\x00\x00\x50\x02\xff\xff\x00\x00\x00\x00" + b"payload!" * 4


def h2_frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def stamp() -> bytes:
    address, host, path = b"192.0.2.1", b"dns.example", b"/dns-query"
    parts = [bytes([len(part)]) + part for part in (address, b"\x03" * 32, host, path)]
    return b"\x02" + bytes(8) + b"".join(parts)


def der(tag: int, content: bytes) -> bytes:
    return bytes([tag, len(content)]) + content


PROFILE = b"""name = "x"
source = "s"
[up]
one_way_delay_ms = 10
loss_ratio = 0.1
rate_bps = 1e6
[down]
one_way_delay_ms = 10
loss_ratio = 0.0
jitter = { standard_deviation_ms = 1.0 }
[[schedule]]
after_ms = 100
outage_ms = 5
"""
EDGE = b"""[ca]
folder = "ca"
[resolver]
name = "dns.resolab.test"
addresses = ["10.77.0.1"]
[[site]]
host = "example.resolab.test"
address = "10.77.1.1"
folder = "pages"
"""
ZONE = rb"""$ORIGIN t.
$TTL 1h
@ IN SOA ns h ( 1 2h 3 4 5 ) ; x
 NS ns
a 60 A 192.0.2.1
 AAAA 2001:db8::1
*.w TXT "a b" c\046
b HTTPS 1 . alpn="h3,h2" port=443 ipv4hint=192.0.2.1 key700=x
c SRV 1 2 3 a.
d TYPE700 \# 2 ab cd
e CAA 0 issue "x"
"""
CROWDED = PROFILE.replace(
    b"[down]",
    b"""queue_discipline = "codel"
policer = { rate_bps = 1e6, burst_bytes = 9000 }
cross_traffic = { model = "on_off", rate_bps = 1e6, on_ms = 20, off_ms = 30 }
[down]
gilbert_elliott = { good_to_bad_ratio = 0.1, bad_to_good_ratio = 0.5 }""",
)
TRAIN = b"\x01\x01\x28\x00\x08\x00\x14\x00\x10\x00" + ipv4(6, TCP)

SEEDS: dict[str, list[bytes]] = {
    # An odd first byte stands for the id, and the question is put in.
    "dns_response": [RESPONSE, ALIAS, b"\x01" + RESPONSE[2:12] + RESPONSE[12 + len(QUESTION) :]],
    "framed_messages": [b"\x05" + behind_length(RESPONSE) + behind_length(QUERY)],
    "resolver_address": [stamp(), b"https://dns.example:8443/dns-query{?dns}", b"tls://[::1]:853", b"192.0.2.1"],
    "presentation": [
        b"\x00\x10\x05plain\x02\x1b\xff",
        b"\x00\x41\x00\x01\x00\x00\x01\x00\x09\x02h2\x05f\\o,b\x00\x02\x00\x00\x00\x03\x00\x02\x20\xfb",
        b"\x00\x0f\x00\x0a\x03a.b\x00",
        "a\\065b.m\u00fcnchen\u3002test".encode(),
    ],
    "doh_response": [b"\x00\xc8" + behind_length(b"application/dns-message") + RESPONSE],
    "stub_reply": [behind_length(QUERY) + RESPONSE, behind_length(message(0x0100, b"", 0)) + ALIAS],
    "partial_response": [b"".join(bytes([len(one) - 2]) + one[2:] for one in (LAST, PARTIAL))],
    "several_questions": [b"\x00" + SEVERAL, b"\x2a" + SEVERAL.replace(b"\x01a", b"\x05large")],
    "certificate": [der(0x30, der(0x30, der(2, b"\x01")) + der(0x30, b"") + der(3, b"\x00")), b"sha256/" + b"A" * 43 + b"="],
    "server_hello": [b"\x07" + server_hello()],
    "client_hello": [client_hello(), b"\x16\x03\x01" + behind_length(client_hello())],
    "tap_packets": [b"".join(map(behind_length, (ipv4(17, UDP), ipv6(17, UDP), ipv4(6, TCP), ipv6(6, TCP))))],
    "quic_headers": [INITIAL + HANDSHAKE, b"\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"],
    "offload_train": [TRAIN, TRAIN[:1] + b"\x04" + TRAIN[2:6] + b"\x28\x00\x10\x00" + ipv6(6, TCP)],
    "netlink_answer": [b"\x17\x00" + struct.pack("<HH", 12, 0x17) + bytes(8)],
    "mahimahi_trace": [b"0\n5\n5\n12\n"],
    "profile": [PROFILE, CROWDED],
    "edge_config": [EDGE],
    "wire_cache": [b"".join(map(behind_length, (QUERY, QUERY.replace(b"\x01a", b"\x01A"), message(0x0100, b"", 0))))],
    "zone_file": [ZONE, b"$INCLUDE more.zone t.\n\x0c@ A 192.0.2.1\n"],
    "edge_query": [QUERY, QUERY.replace(b"\x01a", b"\x04loop"), QUERY.replace(b"\x01a", b"\x05large")],
    "doh_request": [
        b"GET\n\n/dns-query?dns=AAABAAABAAAAAAAAAWEEdGVzdAAAAQAB\n",
        b"HEAD\n\n/dns-query?a=b&%64ns=AAAB\n",
        b"POST\napplication/dns-message;a=b\n/dns-query\n" + QUERY,
    ],
    "page_request": [
        struct.pack(">Q", 1000) + b"range:bytes=10-20\naccept-encoding:br;q=0.5, *;q=0",
        struct.pack(">Q", 1000) + b'range:bytes=-5\nif-range:"a"\nif-modified-since:Sun, 06 Nov 1994 08:49:37 GMT',
        struct.pack(">Q", 0) + b'if-match:"b", W/"a"\nif-none-match:*',
    ],
    "load_http2": [
        b"\x3f"
        + h2_frame(4, 0, 0, struct.pack(">HI", 3, 128))
        + h2_frame(1, 4, 1, b"\x88\x5f\x17application/dns-message")
        + h2_frame(0, 1, 1, RESPONSE)
        + h2_frame(3, 0, 3, bytes(4)),
        b"\x07" + h2_frame(1, 0, 5, b"\x88") + h2_frame(9, 4, 5, b"\x5f\x00") + h2_frame(7, 0, 0, bytes(8)),
    ],
    # A control stream: SETTINGS, ORIGIN, GOAWAY; a query and a request.
    "private_streams": [
        b"\x03\x00\x04\x00" + b"\x0c\x10" + behind_length(b"https://a.test") + b"\x07\x01\x00",
        b"\x01DQ" + behind_length(QUERY),
        b"\x05\x01\x02\x00\x00",
    ],
}

for target, inputs in SEEDS.items():
    folder = HERE / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(inputs):
        (folder / str(number)).write_bytes(content)
