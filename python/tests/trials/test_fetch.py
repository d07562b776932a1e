"""Fetches: the client's options of each condition, the flags, and the outcomes of a record."""

from dataclasses import replace

import msgspec
import pytest

from resolab.basics.records import (
    CoalescingMode,
    ConnectionSharing,
    DnsTransport,
    Failure,
    FetchConnection,
    FetchRecord,
    HandshakeMode,
    PageSpeculation,
    QueryPurpose,
    TrialFlag,
)
from resolab.plan import Condition, Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.store.outcomes import FIRST_BYTE, PAGE_COMPLETE, Contribution
from resolab.trials.fetch.judgement import fetch_flags
from resolab.trials.fetch.runner import choose_mode, choose_options

CONDITIONS = load_plan(PROJECT_ROOT / "plans" / "name-and-page.toml", Corpus.from_project()).conditions()
SEPARATE = next(one for one in CONDITIONS if one.id == "example.4g.doq.full.separate.off")
SHARED = replace(SEPARATE, connection_sharing=ConnectionSharing.RESOLVER_CONNECTION)
ZERO_RTT = replace(SHARED, requested_dns_handshake_mode=HandshakeMode.ZERO_RTT)
CONNECTION = FetchConnection(
    address="10.77.0.1:443", server_name="dns.resolab.test", handshake_mode=HandshakeMode.FULL, address_token_used=False
)
FETCH = FetchRecord(
    coalescing_mode=CoalescingMode.SEPARATE, speculative=False, url="https://example.resolab.test/", resolver="quic://d",
    purpose=QueryPurpose.MEASURED, sequence=0, time_origin_ns=1, requested_handshake_mode=HandshakeMode.FULL,
    connections=[CONNECTION], addresses=["10.77.1.1"], limit_ns=30_000_000_000, page_first_byte_ns=4_000_000,
    page_complete_ns=5_500_000,
)  # fmt: skip


def fetch(**changes) -> FetchRecord:
    return msgspec.structs.replace(FETCH, **changes)


@pytest.mark.parametrize(
    ("condition", "mode"),
    [
        (SEPARATE, CoalescingMode.SEPARATE),
        (SHARED, CoalescingMode.PRIVATE_ALPN),
        (replace(SHARED, dns_transport=DnsTransport.DOH3), CoalescingMode.SHARED_CONNECTION),
        (replace(SEPARATE, dns_transport=DnsTransport.DOH3), CoalescingMode.SEPARATE),
    ],
)
def test_transport_and_sharing_make_the_mode(condition: Condition, mode: CoalescingMode) -> None:
    assert choose_mode(condition) is mode


def test_the_client_gets_handshake_and_speculation() -> None:
    options = choose_options(replace(ZERO_RTT, speculation=PageSpeculation.DOCUMENT))
    assert (options.handshake, options.is_speculative) == (HandshakeMode.ZERO_RTT, True)
    assert not choose_options(SHARED).is_speculative


@pytest.mark.parametrize(
    ("record", "condition", "flags"),
    [
        (fetch(), SHARED, []),
        (fetch(connections=[CONNECTION, CONNECTION]), SEPARATE, []),
        (fetch(connections=[CONNECTION, CONNECTION]), SHARED, [TrialFlag.CONNECTION_NOT_SHARED]),
        (fetch(), ZERO_RTT, [TrialFlag.DNS_HANDSHAKE_MISMATCH]),
        (fetch(failure=Failure.QUERY_TIMEOUT, connections=[]), SHARED, []),
    ],
)
def test_what_was_not_as_requested_is_flagged(record: FetchRecord, condition: Condition, flags: list[str]) -> None:
    assert fetch_flags(record, condition) == flags


def test_first_and_last_byte_count_and_a_failure_makes_the_limit() -> None:
    assert FIRST_BYTE.contribution_of_records([FETCH]) == Contribution(4.0, 30_000.0)
    assert PAGE_COMPLETE.contribution_of_records([FETCH]) == Contribution(5.5, 30_000.0)
    failed = fetch(failure=Failure.QUERY_TIMEOUT)
    assert FIRST_BYTE.contribution_of_records([failed]) == Contribution(None, 30_000.0)
    assert FIRST_BYTE.contribution_of_records([fetch(purpose=QueryPurpose.PRIMING)]) is None
