"""The hellos in the edge's records are those that a capture of the path has: both browsers, our client and the stub."""

import asyncio
import struct

import pytest
from browser_lab import one_condition
from captured import TCP, UDP, conversations

from resolab.basics.records import ConnectionRecord, KeyExchangeGroup, PathStartCapture, PathStopCapture, QueryRecord

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
KEY_SHARE = 51
RECORD_HEADER_BYTES = 5
CODES = {0x11EC: KeyExchangeGroup.X25519MLKEM768, 0x1D: KeyExchangeGroup.X25519}


async def captured_trial(browser, dns_transport, resolver_path, folder):
    async with one_condition(browser, resolver_path, dns_transport=dns_transport) as (testbed, condition):
        file = folder / "trial.pcapng"
        command = testbed.path.process.command
        # A browser's first load is a rehearsal: a second trial has none, so that every connection is in the capture.
        await testbed.run_trial(condition, "b000-t000")
        await command(lambda number: PathStartCapture(id=number, file=str(file)))
        result = await testbed.run_trial(condition, "b000-t001")
        await command(lambda number: PathStopCapture(id=number))
        return result.records, conversations(file)


def message_bytes(stream):
    """Length of the handshake message in the stream's first record."""
    return 4 + int.from_bytes(stream[RECORD_HEADER_BYTES + 1 : RECORD_HEADER_BYTES + 4])


def group_of(stream):
    """Group of the ServerHello at the stream's beginning."""
    at = RECORD_HEADER_BYTES + 4 + 2 + 32
    at += 1 + stream[at] + 2 + 1
    end = at + 2 + struct.unpack_from(">H", stream, at)[0]
    at += 2
    while at < end:
        kind, length = struct.unpack_from(">HH", stream, at)
        if kind == KEY_SHARE:
            return CODES[struct.unpack_from(">H", stream, at + 4)[0]]
        at += 4 + length
    return None


def check_tcp(record, seen):
    up, down = seen.stream(True), seen.stream(False)
    assert record.client_hello_bytes == message_bytes(up)
    hello_bytes = RECORD_HEADER_BYTES + record.client_hello_bytes
    assert record.client_hello_packets_count == seen.segments_with(True, hello_bytes)
    assert record.server_hello_bytes == message_bytes(down)
    assert record.key_exchange_group is group_of(down)


@pytest.mark.parametrize(
    ("browser", "dns_transport", "resolver_path"),
    [
        ("chromium", "doh", "native"),
        ("firefox", "doh", "native"),
        ("chromium", "dot", "stub"),
        ("firefox", "doq", "stub"),
    ],
)
def test_records_say_what_the_capture_has(browser, dns_transport, resolver_path, tmp_path, privileged):
    records, seen = asyncio.run(captured_trial(browser, dns_transport, resolver_path, tmp_path))
    checked = {"tcp": 0, "quic": 0}
    for one in (r for r in records if isinstance(r, ConnectionRecord) and r.client_hello_bytes is not None):
        protocol = TCP if one.protocol == "tcp" else UDP
        of_port = seen.get((protocol, int(one.peer_address.rpartition(":")[2])))
        if of_port is None or (protocol == TCP and True not in of_port.begins):
            continue  # It was open before.
        checked[one.protocol] += 1
        if protocol == TCP:
            check_tcp(one, of_port)
        else:
            flights = (one.client_hello_packets_count, one.server_flight_packets_count)
            assert flights == of_port.first_flights(), one
    # The page is over h3, the resolver over what the condition says; our own client asks over that, too.
    assert checked["quic"] >= 1 + 2 * (dns_transport == "doq")
    assert checked["tcp"] >= 2 * (dns_transport != "doq")
    ours = [r for r in records if isinstance(r, QueryRecord) and r.client_hello_bytes is not None]
    hellos = {r.client_hello_bytes for r in records if isinstance(r, ConnectionRecord)}
    assert ours
    assert {r.client_hello_bytes for r in ours} <= hellos
