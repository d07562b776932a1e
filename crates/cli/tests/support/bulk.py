# ruff: noqa: INP001, T201
"""Bulk transfers through a path, for tests of it.

TCP both ways, and UDP datagrams that the kernel cuts out of one large write (UDP_SEGMENT). Says what
arrived; bytes that do not arrive as they were sent end it.
"""

import socket
import sys

TCP_BYTES = 8_000_000
CHUNK = bytes(range(250)) * 4
DATAGRAM_BYTES = 1_200
DATAGRAMS_PER_WRITE = 20
WRITES = 2
UDP_SEGMENT = 103


def send_all(connection: socket.socket) -> None:
    """Send the whole transfer."""
    for _ in range(TCP_BYTES // len(CHUNK)):
        connection.sendall(CHUNK)


def receive_all(connection: socket.socket) -> int:
    """Receive the whole transfer and compare it; how many bytes came."""
    received = 0
    while received < TCP_BYTES:
        part = connection.recv(1 << 18)
        if not part:
            break
        start = received % 250
        assert part == (CHUNK[start:250] + CHUNK * (len(part) // len(CHUNK) + 1))[: len(part)]
        received += len(part)
    return received


def serve(address: str, port: int) -> None:
    """Receive, send back, and confirm the datagrams."""
    with socket.create_server((address, port)) as listener:
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind((address, port))
        print("ready", flush=True)
        connection, _ = listener.accept()
        receive_all(connection)
        send_all(connection)
        datagrams.settimeout(5)
        for _ in range(DATAGRAMS_PER_WRITE * WRITES):
            datagram, _ = datagrams.recvfrom(65_535)
            assert datagram == b"d" * DATAGRAM_BYTES
        connection.sendall(b"!")
        connection.recv(1)


def exchange(address: str, port: int) -> None:
    """Send, receive, send datagrams, and say what arrived."""
    connection = socket.create_connection((address, port), timeout=5)
    send_all(connection)
    received = receive_all(connection)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, DATAGRAM_BYTES)
    for _ in range(WRITES):
        datagrams.sendto(b"d" * (DATAGRAM_BYTES * DATAGRAMS_PER_WRITE), (address, port))
    arrived = DATAGRAMS_PER_WRITE * WRITES if connection.recv(1) == b"!" else 0
    print("tcp", received, "udp", arrived, flush=True)


if __name__ == "__main__":
    {"serve": serve, "exchange": exchange}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
