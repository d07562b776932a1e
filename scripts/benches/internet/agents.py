"""Programs for the inside of hosts: a stamping echo, a client comparing the echo's stamps with its own, a flood.

For: `resolab-core enter ... -- python -m benches.internet.agents echo|ask|flood|serve|fetch`; each prints JSON.

Instants are the machine's wall clock, shared by all hosts; the kernel stamps received packets. Not for: evaluating the
output.
"""

import contextlib
import json
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable

PORT = 7
SO_TIMESTAMPNS = 35
UDP_SEGMENT = 103
STAMP = struct.Struct("=qq")
PATIENCE_S = 1.0
PRIORITY = 40
"""A priority below the exchange's: between a stamp and the sending, no other process may get the processor."""
FLOOD_PACKET_BYTES, FLOOD_PACKETS_PER_CALL = 100, 60
CHUNK = bytes(1 << 18)


def _open_stamped_socket(address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.bind((address, port))
    return made


def _be_punctual() -> None:
    # Without the right to it the figures are those of a busy machine.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


def _receive(sock: socket.socket) -> tuple[bytes, tuple[str, int], int]:
    data, ancillary, _, sender = sock.recvmsg(2048, 256)
    seconds, nanoseconds = STAMP.unpack(ancillary[0][2])
    return data, sender, seconds * 1_000_000_000 + nanoseconds


def echo(address: str) -> None:
    """Send every datagram back, followed by its receive time and its send time."""
    _be_punctual()
    sock = _open_stamped_socket(address, PORT)
    print(json.dumps("ready"), flush=True)
    while True:
        data, sender, received_ns = _receive(sock)
        sock.sendto(data + STAMP.pack(received_ns, time.time_ns()), sender)


def ask(count: str, interval_ms: str, *servers: str) -> None:
    """Query the servers in turn; print for each answer the server's index and both one-way times in ns."""
    _be_punctual()
    sock = _open_stamped_socket("0.0.0.0", 0)
    answers: list[tuple[int, int, int]] = []
    began, sent = time.monotonic(), 0
    ends = began + int(count) * float(interval_ms) / 1e3 + PATIENCE_S
    while sent < int(count) or (len(answers) < sent and time.monotonic() < ends):
        due = began + sent * float(interval_ms) / 1e3
        wait_s = max(0.0, due - time.monotonic()) if sent < int(count) else PATIENCE_S
        if select.select([sock], [], [], wait_s)[0]:
            data, _, received_ns = _receive(sock)
            (place, asked_ns), (there_ns, back_ns) = STAMP.unpack_from(data), STAMP.unpack_from(data, STAMP.size)
            answers.append((place, there_ns - asked_ns, received_ns - back_ns))
        elif sent < int(count):
            place = sent % len(servers)
            sock.sendto(STAMP.pack(place, time.time_ns()), (servers[place], PORT))
            sent += 1
    print(json.dumps({"asked": sent, "answers": answers}))


def flood(server: str, seconds: str) -> None:
    """Send small datagrams as fast as possible; the kernel cuts each call's data into many datagrams."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, FLOOD_PACKET_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    text = bytes(FLOOD_PACKET_BYTES * FLOOD_PACKETS_PER_CALL)
    began, calls = time.monotonic(), 0
    while time.monotonic() - began < float(seconds):
        sock.sendto(text, (server, PORT))
        calls += 1
    print(json.dumps({"packets": calls * FLOOD_PACKETS_PER_CALL, "seconds": time.monotonic() - began}))


def serve(address: str, seconds: str) -> None:
    """Send as much as one TCP connection takes."""
    with socket.create_server((address, PORT)) as listener:
        print(json.dumps("ready"), flush=True)
        connection, _ = listener.accept()
        ends = time.monotonic() + float(seconds)
        with connection:
            while time.monotonic() < ends:
                connection.sendall(CHUNK)


def fetch(server: str) -> None:
    """Receive from a `serve` until the end."""
    total, began = 0, time.monotonic()
    with socket.create_connection((server, PORT)) as connection:
        while taken := connection.recv_into(bytearray(1 << 18)):
            total += taken
    print(json.dumps({"bytes": total, "seconds": time.monotonic() - began}))


AGENTS: dict[str, Callable[..., None]] = {
    "echo": echo,
    "ask": ask,
    "flood": flood,
    "serve": serve,
    "fetch": fetch,
}

if __name__ == "__main__":
    AGENTS[sys.argv[1]](*sys.argv[2:])
