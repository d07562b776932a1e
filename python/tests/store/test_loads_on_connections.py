"""Which connections carried a measured load, by the edge's and the gateway's records."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.basics.records import (
    MEASURED_LABEL,
    ConnectionReason,
    ConnectionRecord,
    DiscardedBecause,
    EdgeRequestRecord,
    GatewayRequestRecord,
    GatewaySpeculationRecord,
    HttpVersion,
    PathSummaryRecord,
    Record,
    Speculation,
)
from resolab.report.build import make_report
from resolab.store import build_tables, find_finished_trials, open_dataset, read_trial
from resolab.store.connections.loads import LoadConnectionsRow

SINCE_NS, UNTIL_NS = 1_000_000_000_000, 1_000_900_000_000
INSIDE_NS, BEFORE_NS = SINCE_NS + 5, SINCE_NS - 5


def request(name: str, connection_id: int, received_ns: int = INSIDE_NS) -> EdgeRequestRecord:
    return EdgeRequestRecord(
        connection_id=connection_id,
        http_version=HttpVersion.H3,
        peer_address="10.77.0.2:41000",
        received_ns=received_ns,
        in_early_data=False,
        method="GET",
        authority=name,
        path="/",
        status=200,
        body_bytes=10,
    )


def connection(connection_id: int, name: str, mode: str | None, **more: object) -> ConnectionRecord:
    values = {
        "connection_id": connection_id,
        "protocol": "quic",
        "local_address": "10.77.0.1:443",
        "peer_address": "10.77.0.2:41000",
        "server_name": name,
        "accepted_ns": INSIDE_NS,
        "handshake_mode": mode,
        **more,
    }
    return msgspec.convert(values, ConnectionRecord)


def passed(request_id: int, reason: ConnectionReason | None, received_ns: int = INSIDE_NS) -> GatewayRequestRecord:
    return GatewayRequestRecord(
        load=1,
        request_id=request_id,
        leg_id=1,
        leg_http_version=HttpVersion.H3,
        connection_reason=reason,
        method="GET",
        authority="a.test",
        path="/",
        received_ns=received_ns,
        interim_responses_count=0,
        request_body_bytes=0,
        response_body_bytes=10,
        sent_again_count=0,
        cancelled=False,
    )


SEEN: Sequence[Record] = (
    request("a.test", 1),
    request("b.test:443", 1),
    request("b.test", 1),
    request("c.test", 2),
    request("old.test", 7, BEFORE_NS),
    connection(1, "a.test", "full"),
    connection(2, "c.test", "zero_rtt"),
    connection(3, "c.test", "full"),  # a spare
    connection(4, "dns.test", "full", queries_count=2),
    connection(7, "old.test", "resumed", accepted_ns=BEFORE_NS),
)


def dataset_with(folder: Path, seen: Sequence[Record], label: str = MEASURED_LABEL) -> Path:
    """Have the first trial's measured window and what was seen in it."""
    make_dataset(folder, make_plan(PLAN_TEXT), Faults(trials_count=12))
    file = next(iter(find_finished_trials(folder).values()))
    kept: list[Record] = []
    for one in read_trial(file):
        if isinstance(one, PathSummaryRecord):
            kept.append(msgspec.structs.replace(one, label=label, window_start_ns=SINCE_NS, window_end_ns=UNTIL_NS))
        elif not isinstance(one, EdgeRequestRecord | ConnectionRecord):
            kept.append(one)
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (*kept[:-1], *seen, kept[-1])))
    build_tables(folder)
    return folder


def rows_of(folder: Path) -> list[LoadConnectionsRow]:
    with open_dataset(folder) as dataset:
        return dataset.load_connections()


def test_a_connection_counts_for_the_names_asked_on_it_in_the_load(tmp_path: Path) -> None:
    (row,) = rows_of(dataset_with(tmp_path / "d", SEEN))
    assert (row.names_count, row.requests_count, row.connections_count) == (3, 4, 2)
    assert (row.full_count, row.resumed_count, row.zero_rtt_count) == (1, 0, 1)
    assert (row.of_several_names_count, row.unused_count) == (1, 1)
    assert row.shared_requests_count == 2, "both of b.test, which came on a.test's"
    assert (row.own_name_requests_count, row.speculation) == (None, None)


def test_without_the_loads_window_nothing_is_known(tmp_path: Path) -> None:
    assert rows_of(dataset_with(tmp_path / "d", SEEN, label="warm-up")) == []


def test_a_gateway_says_why_and_what_came_of_the_document(tmp_path: Path) -> None:
    speculated = GatewaySpeculationRecord(
        load=1,
        host="a.test",
        speculation=Speculation.DISCARDED,
        discarded_because=DiscardedBecause.OTHER_REQUEST,
        query_ns=INSIDE_NS,
        discarded_body_bytes=700,
    )
    reasons = (ConnectionReason.OWN_NAME, ConnectionReason.ADDRESS, ConnectionReason.ADDRESS, None)
    requests = [passed(number, reason) for number, reason in enumerate(reasons)]
    before = passed(9, ConnectionReason.CERTIFICATE, BEFORE_NS)
    folder = dataset_with(tmp_path / "d", [*SEEN, *requests, before, speculated])
    (row,) = rows_of(folder)
    assert (row.own_name_requests_count, row.address_requests_count) == (1, 2)
    assert (row.origin_requests_count, row.certificate_requests_count) == (0, 0)
    assert (row.speculation, row.discarded_because, row.discarded_body_bytes) == ("discarded", "other_request", 700)
    page = make_report(folder).page.read_text("utf-8")
    assert "Connections that carried each condition&#39;s loads" in page
    assert "1 discarded: other request (700 B for nothing)" in page
    kept = (folder / "report" / "figures" / "load_connections.csv").read_text("utf-8").splitlines()
    assert len(kept) == 2
    assert "address_requests_count" in kept[0]
