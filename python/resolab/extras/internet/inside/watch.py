"""Write down every DNS query received by a host: instant, source, question; a line of JSON each.

For: queries of recursive resolvers to third-party authoritative servers without logs of their own: the box's truth of
hits and misses. Run inside the host: `watch.py SERVER`; the first line confirms the watching. Not for: answers, or
queries over TCP.
"""

import json
import socket
import struct
import sys
import time

SO_TIMESTAMPNS, ETH_P_IP, PACKET_OUTGOING, UDP, DNS_PORT = 35, 0x0800, 4, 17, 53
KINDS = {1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 16: "TXT", 28: "AAAA", 65: "HTTPS"}


def main() -> None:
    """Listen until killed; the program ends with the box."""
    server = sys.argv[1]
    listening = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
    listening.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    say({"watching": server})
    while True:
        packet, ancillary, _, sender = listening.recvmsg(65535, 64)
        stamp = next((value for _, kind, value in ancillary if kind == SO_TIMESTAMPNS), None)
        seen = None if sender[2] == PACKET_OUTGOING else read_query(packet)
        if seen is not None:
            say({"at_ns": monotonic_ns(stamp), "server": server, **seen})


def say(line: dict[str, object]) -> None:
    """Write a line at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def monotonic_ns(stamp: bytes | None) -> int:
    """Convert the kernel's stamp from the wall clock to the monotonic clock of all records."""
    now_ns = time.monotonic_ns()
    if stamp is None:
        return now_ns
    seconds, nanoseconds = struct.unpack("qq", stamp)
    waited_ns: int = time.time_ns() - (seconds * 1_000_000_000 + nanoseconds)
    return now_ns - max(0, waited_ns)


def read_query(packet: bytes) -> dict[str, str] | None:
    """Read source and question of a DNS query over UDP (RFC 791, 768, 1035 section 4), otherwise return `None`."""
    header = (packet[0] & 0x0F) * 4
    if len(packet) < header + 20 or packet[9] != UDP:
        return None
    _, port = struct.unpack_from("!HH", packet, header)
    message = packet[header + 8 :]
    if port != DNS_PORT or message[2] & 0x80:
        return None
    labels, at = [], 12
    while at < len(message) and message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode("latin-1").lower())
        at += 1 + message[at]
    if at + 3 > len(message):
        return None
    kind = struct.unpack_from("!H", message, at + 1)[0]
    source = ".".join(map(str, packet[12:16]))
    return {"resolver": source, "qname": ".".join(labels) + ".", "qtype": KINDS.get(kind, f"TYPE{kind}")}


if __name__ == "__main__":
    main()
