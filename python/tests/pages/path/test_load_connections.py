"""Connections of a load by the server's records: whose they are, which were used, which names shared one."""

from typing import Any

import msgspec
from made_page_model import document, model, request
from recorded_trial import connection, edge_request, page_load, trial

from resolab.basics.records import ConnectionRecord, EdgeRequestRecord, HandshakeMode, PageFailure, Record
from resolab.pages.clone.names import host_name
from resolab.pages.path import LoadConnections, count_connections

PAGE = model(document(), *(request(0, host=host) for host in range(1, 5)), hosts=5)
NAMES = [host_name(PAGE, host) for host in range(5)]
BEGAN_NS = 4_266_500_000
"""navigationStart of `recorded_trial.page_load` on its trial's own clock."""
LOAD = msgspec.structs.replace(page_load(), plt_ms=500.0)


def at(ms: float) -> int:
    return BEGAN_NS + round(ms * 1e6)


def opened(number: int, name: str, ms: float, mode: HandshakeMode | None = HandshakeMode.FULL, **more: Any) -> ConnectionRecord:  # fmt: skip
    fields = {"server_name": name, "accepted_ns": at(ms), "handshake_mode": mode}
    if mode is not None:
        fields["handshake_complete_ns"] = at(ms + 1)
    return msgspec.structs.replace(connection(number), **fields | more)


def asked(number: int, name: str, ms: float) -> EdgeRequestRecord:
    return msgspec.structs.replace(edge_request("/x", number, at(ms), 9), authority=name)


def count(*records: Record) -> LoadConnections | None:
    return count_connections(PAGE, [trial(), LOAD, *records])


def test_connections_of_a_load_and_names_that_shared_them() -> None:
    found = count(
        opened(1, NAMES[0], 5), asked(1, NAMES[0], 10), asked(1, NAMES[1], 50), asked(1, f"{NAMES[1]}:443", 51),
        opened(2, NAMES[2], 20, HandshakeMode.ZERO_RTT), asked(2, NAMES[2], 30),
        # Its own connection and, before it was there, another's: it did not share alone.
        opened(3, NAMES[3], 25), asked(3, NAMES[3], 40), asked(2, NAMES[3], 35),
        opened(4, NAMES[4], 26), opened(5, NAMES[4], 27, mode=None),
        # Kept from before the load, with a request in it.
        opened(6, NAMES[2], -800, HandshakeMode.RESUMED), asked(6, NAMES[2], 60),
    )  # fmt: skip
    assert found == LoadConnections(
        connections_count=5, unused_count=1, failed_count=1, handshakes_count={"full": 3, "zero_rtt": 1}, names_count=4,
        sharing_names_count=1, may_share_names_count=0,
    )  # fmt: skip


def test_names_may_share_that_have_address_and_certificate_in_common_and_were_asked() -> None:
    shared = ((0, 7), (0, 7), (0, 8), (None, 7), (0, 7))
    hosts = [
        msgspec.structs.replace(one, address_group=address, certificate=certificate)
        for one, (address, certificate) in zip(PAGE.hosts, shared, strict=True)
    ]
    page = msgspec.structs.replace(PAGE, hosts=tuple(hosts))
    records = [asked(1, name, 10) for name in NAMES[:4]]
    found = count_connections(page, [trial(), LOAD, opened(1, NAMES[0], 5), *records])
    assert found is not None
    assert found.may_share_names_count == 2


def test_what_is_of_the_resolver_the_warm_up_or_after_the_load_event_is_none_of_it() -> None:
    found = count(
        opened(1, "dns.resolab.test", 5), asked(1, "dns.resolab.test", 6),
        opened(2, NAMES[0], -900), asked(2, NAMES[0], -800),
        opened(3, NAMES[1], 600), asked(3, NAMES[1], 650),
    )  # fmt: skip
    assert found is not None
    assert (found.connections_count, found.names_count, found.handshakes_count) == (0, 0, {})


def test_a_load_without_an_end_has_none() -> None:
    assert count_connections(PAGE, [trial(), page_load(failure=PageFailure.PAGE_TIMEOUT)]) is None
    assert count_connections(PAGE, [LOAD]) is None, "no clock"
