"""Measured look-ups beside their truth: what tells hits from misses, and what is called within."""

import pytest
from made_box import a_layout

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import (
    Bootstrap,
    CacheState,
    ConnectionState,
    DnsTransport,
    Failure,
    QueryPurpose,
    QueryRecord,
)
from resolab.extras.internet.check import check
from resolab.extras.internet.recursion import RecursionLog, RecursionQuery, read_recursion

NAME, RESOLVER = "h0.s0-calibre-2020-07.test.", "198.18.3.1"
START_NS, MS = 1_000_000_000, 1_000_000


def a_look_up(total_ms, *, at_ms=0, address=f"{RESOLVER}:443", **fields):
    values = {
        "dns_transport": DnsTransport.DOH,
        "resolver": "https://dns.knot.example/dns-query",
        "resolver_address": address,
        "bootstrap": Bootstrap.GIVEN,
        "qname": NAME,
        "qtype": "A",
        "purpose": QueryPurpose.MEASURED,
        "sequence": 0,
        "time_origin_ns": START_NS + at_ms * MS,
        "connection": ConnectionState.COLD,
        "query_exchange_start_ns": 0,
        "query_exchange_end_ns": round(total_ms * MS),
        "query_response_time_ns": round(total_ms * MS),
        "query_bytes": 40,
        "attempt_count": 1,
        "addresses": [],
        "rcode": "NOERROR",
    }
    return QueryRecord(**values | fields)


def asked(server, at_ms, qtype="A"):
    return RecursionQuery(at_ns=START_NS + at_ms * MS, server=server, resolver=RESOLVER, qname=NAME, qtype=qtype)


def zone_server():
    return next(zone.server for zone in a_layout().zones if f"{zone.origin}." in NAME and zone.origin.count(".") == 1)


def test_hits_and_misses_are_told_by_what_was_asked_meanwhile():
    layout = a_layout()
    recursion = RecursionLog([asked(zone_server(), 50), asked(zone_server(), 120, "AAAA")])
    miss_ms = 66 + layout.rtt_ms("knot", layout.server_address(zone_server()))
    checked = check(layout, recursion, [a_look_up(miss_ms + 1), a_look_up(67, at_ms=300), a_look_up(75, at_ms=400)])
    rows = {row.cache: row for row in checked.rows}
    assert (rows["miss"].count, rows["miss"].truth_ms, rows["miss"].within) == (1, miss_ms, True)
    assert (rows["hit"].count, rows["hit"].truth_ms, rows["hit"].measured_ms) == (2, 66, 71)
    assert rows["hit"].difference_ms == pytest.approx(5)
    assert (rows["hit"].within, rows["hit"].within_ratio) == (False, 0.5)
    assert not checked.all_within


def test_what_has_no_truth_is_counted_and_not_compared():
    layout = a_layout()
    recursion = RecursionLog([asked(zone_server(), 10), asked(zone_server(), 20)])
    failed = a_look_up(0, at_ms=500, query_response_time_ns=None, failure=Failure.QUERY_TIMEOUT)
    foreign = a_look_up(5, at_ms=600, address="192.0.2.1:53")
    checked = check(layout, recursion, [a_look_up(80), failed, foreign])
    assert (checked.rows, checked.untold_count, checked.failed_count, checked.foreign_count) == ([], 1, 1, 1)
    assert not checked.all_within


def test_the_look_up_of_the_resolvers_name_is_not_in_it():
    record = a_look_up(86, bootstrap_start_ns=0, bootstrap_end_ns=20 * MS)
    (row,) = check(a_layout(), RecursionLog([]), [record]).rows
    assert row.measured_ms == 66


def test_what_was_asked_is_read_but_for_an_unfinished_line(tmp_path):
    folder = tmp_path / "recursion"
    folder.mkdir()
    line = f'{{"at_ns":{START_NS},"server":"root","resolver":"{RESOLVER}","qname":"{NAME}","qtype":"A"}}\n'
    (folder / "root.jsonl").write_text('{"watching": "root"}\n' + line + line[:20])
    recursion = read_recursion(tmp_path)
    assert recursion.count == 1
    assert recursion.servers(RESOLVER, NAME.upper(), "A", START_NS, START_NS) == ("root",)
    assert recursion.servers(RESOLVER, NAME, "A", START_NS + 1, START_NS + 2) == ()
    with pytest.raises(ConfigurationError, match="--folder"):
        read_recursion(tmp_path / "elsewhere")
    # Without it every look-up would seem to be a hit.
    (folder / "auth-a.jsonl").write_text("PermissionError: [Errno 1] Operation not permitted\n")
    with pytest.raises(ConfigurationError, match="nobody watched"):
        read_recursion(tmp_path)


def test_cache_states_are_held_against_hits_and_misses():
    recursion = RecursionLog([asked(zone_server(), 50)])
    states = [CacheState.FIRST_ASKED, CacheState.WITHIN_TTL, CacheState.WITHIN_TTL, CacheState.AFTER_TTL, None]
    records = [a_look_up(90, at_ms=n * 500, cache_state=state) for n, state in enumerate(states)]
    checked = check(a_layout(), recursion, records)
    seen = {row.cache_state: (row.hits_count, row.misses_count) for row in checked.states}
    assert seen == {
        CacheState.FIRST_ASKED: (0, 1),
        CacheState.WITHIN_TTL: (2, 0),
        CacheState.AFTER_TTL: (1, 0),
        None: (1, 0),
    }
    # The one after its TTL was a hit.
    assert checked.told_apart_ratio == 3 / 4
    assert check(a_layout(), recursion, [a_look_up(90)]).told_apart_ratio is None
