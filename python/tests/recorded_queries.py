"""Queries as resolab-core recorded them against an edge on loopback: two names, four resolvers (one of them dead), 0-RTT
asked for, six rounds in shuffled order."""

from pathlib import Path

import msgspec

from resolab.basics.records import QueryRecord, Record

FILE = Path(__file__).parent / "queries" / "recorded.jsonl"
UDP, DOT, DOQ, DEAD = RESOLVERS = [
    "udp://127.7.7.7:5353",
    "tls://dns.resolab.test:8853",
    "quic://dns.resolab.test:8853",
    "udp://127.7.7.7:9",
]
NAMES = ["example.resolab.test", "nx.resolab.test"]
ROUNDS = 6


def recorded() -> list[QueryRecord]:
    records = [msgspec.json.decode(line, type=Record) for line in FILE.read_bytes().splitlines()]
    return [record for record in records if isinstance(record, QueryRecord)]
