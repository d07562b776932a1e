"""Whose a connection was, and what its hellos were, by the edge's records alone."""

from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.basics.records import ConnectionRecord, KeyExchangeGroup, QueryPurpose, QueryRecord, Record, TrialRecord
from resolab.report.sections.connections.hellos import hello_table
from resolab.store import build_tables, find_finished_trials, open_dataset, read_trial

GREETED = {
    "key_exchange_group": KeyExchangeGroup.X25519MLKEM768,
    "hello_retry_request": False,
    "client_hello_packets_count": 2,
    "server_hello_bytes": 1210,
    "server_flight_packets_count": 2,
}


def connection(number: int, accepted_ns: int, *, name: str, alpn: str, **more: object) -> ConnectionRecord:
    values = {
        "connection_id": 100 + number,
        "local_address": "10.77.0.1:853",
        "peer_address": f"10.77.0.2:{41000 + number}",
        "protocol": "tcp",
        "server_name": name,
        "alpn": alpn,
        "accepted_ns": accepted_ns,
        "handshake_mode": "full",
        **GREETED,
        **more,
    }
    return msgspec.convert(values, ConnectionRecord)


def with_connections(folder: Path, resolver_path: str) -> str:
    """Put connections of all kinds into the first trial whose resolver is reached so; its browser."""
    for file in find_finished_trials(folder).values():
        records: list[Record] = list(read_trial(file))
        trial = next(one for one in records if isinstance(one, TrialRecord))
        if trial.resolver_path != resolver_path:
            continue
        asked = next(one for one in records if isinstance(one, QueryRecord) and one.purpose is QueryPurpose.MEASURED)
        later_ns = trial.monotonic_ns + 2_900_000_000
        made = [
            connection(
                1, asked.time_origin_ns + 1, name="dns.test", alpn="dot", client_hello_bytes=1450, queries_count=1
            ),
            connection(2, later_ns, name="dns.test", alpn="h2", client_hello_bytes=1951, queries_count=1),
            connection(3, later_ns, name="dns.test", alpn="h2", client_hello_bytes=1983),
            connection(4, later_ns, name="page.test", alpn="h3", client_hello_bytes=1890, protocol="quic"),
        ]
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join([*lines[:-1], *(msgspec.json.encode(one) + b"\n" for one in made), lines[-1]]))
        return trial.browser
    pytest.fail(f"no trial with {resolver_path}")


@pytest.mark.parametrize(("resolver_path", "asks"), [("native", None), ("stub", "stub")])
def test_connections_are_told_apart_by_who_opened_them(tmp_path: Path, resolver_path: str, asks: str | None) -> None:
    folder = make_dataset(tmp_path / "d", make_plan(PLAN_TEXT), Faults(trials_count=12))
    browser = with_connections(folder, resolver_path)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        rows = dataset.hellos()
    found = {(one.client, one.server, one.alpn): one for one in rows}
    assert set(found) == {
        ("resolab client", "resolver", "dot"),
        (asks or browser, "resolver", "h2"),
        (browser, "page", "h3"),
    }
    spare = found[asks or browser, "resolver", "h2"]
    assert (spare.connections_count, spare.trials_count) == (2, 1)
    assert (spare.client_hello_least_bytes, spare.client_hello_most_bytes) == (1951, 1983)
    table = hello_table(rows)
    assert [row[8] for row in table.rows if row[2] == "h2"] == ["1951 to 1983"]


def test_datasets_from_before_hellos_have_no_rows(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=3))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        assert hello_table(dataset.hellos()).rows == []
