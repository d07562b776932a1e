"""Sends a trace's queries to a resolver on loopback, at the trace's times, from an address of each client's subnet.

For: sockets and clocks. Not for: the choice of queries (`traces`), or the source of answers.
"""

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benches.client_subnet.traces import Query

FIRST_SUBNET = 16
"""The first subnet is 127.16.0.0/24: all of 127.0.0.0/8 belongs to this host."""
PATIENCE_S = 2.0
RESPONSE_BYTES = 2_048
HEADER = struct.Struct(">HHHHHH")
RECURSION_DESIRED = 0x0100
RCODE = 0x000F


@dataclass
class ReplayResult:
    """The result of a replayed trace."""

    begun_ns: int
    """The start on `CLOCK_MONOTONIC`, as in the edge's records."""
    times_ms: list[tuple[float, float]] = field(default_factory=list)
    """The planned send time (s since the beginning) and the response time of each answered query."""
    lost_count: int = 0
    failed_count: int = 0
    latest_ms: float = 0.0
    """The largest lateness of sending, in ms."""


def source_of(subnet: int) -> str:
    """Return an address of a subnet of 256."""
    return f"127.{FIRST_SUBNET + subnet // 256}.{subnet % 256}.7"


def replay(
    address: tuple[str, int], qnames: Sequence[str], queries: Iterable[Query], subnets_count: int
) -> ReplayResult:
    """Send the queries, and wait for the last answers."""
    questions = [_question(name) for name in qnames]
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        sockets = [_socket(stack, selector, subnet, address) for subnet in range(subnets_count)]
        waiting: dict[tuple[int, int], tuple[float, int]] = {}
        replayed = ReplayResult(time.monotonic_ns())
        for number, query in enumerate(queries):
            due_ns = replayed.begun_ns + int(query.at_s * 1e9)
            _receive_until(due_ns, selector, waiting, replayed)
            message_id = number % 65_536
            now_ns = time.monotonic_ns()
            replayed.latest_ms = max(replayed.latest_ms, (now_ns - due_ns) / 1e6)
            waiting[query.subnet, message_id] = (query.at_s, now_ns)
            header = HEADER.pack(message_id, RECURSION_DESIRED, 1, 0, 0, 0)
            sockets[query.subnet].send(header + questions[query.name])
        until_ns = time.monotonic_ns() + int(PATIENCE_S * 1e9)
        while waiting and time.monotonic_ns() < until_ns:
            _receive_until(min(until_ns, time.monotonic_ns() + 10_000_000), selector, waiting, replayed)
        replayed.lost_count = len(waiting)
    return replayed


def _question(name: str) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split("."))
    return labels + b"\x00" + struct.pack(">HH", 1, 1)


def _socket(
    stack: contextlib.ExitStack, selector: selectors.BaseSelector, subnet: int, address: tuple[str, int]
) -> socket.socket:
    made = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
    made.bind((source_of(subnet), 0))
    made.connect(address)
    made.settimeout(0.0)
    selector.register(made, selectors.EVENT_READ, subnet)
    return made


def _receive_until(
    until_ns: int,
    selector: selectors.BaseSelector,
    waiting: dict[tuple[int, int], tuple[float, int]],
    replayed: ReplayResult,
) -> None:
    while (left_ns := until_ns - time.monotonic_ns()) > 0:
        for key, _ in selector.select(left_ns / 1e9):
            assert isinstance(key.fileobj, socket.socket)
            with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
                response = key.fileobj.recv(RESPONSE_BYTES)
                _take(key.data, response, waiting, replayed)


def _take(
    subnet: int, response: bytes, waiting: dict[tuple[int, int], tuple[float, int]], replayed: ReplayResult
) -> None:
    message_id, flags = HEADER.unpack_from(response)[:2]
    asked = waiting.pop((subnet, message_id), None)
    if asked is None:
        return
    at_s, sent_ns = asked
    if flags & RCODE:
        replayed.failed_count += 1
    else:
        replayed.times_ms.append((at_s, (time.monotonic_ns() - sent_ns) / 1e6))
