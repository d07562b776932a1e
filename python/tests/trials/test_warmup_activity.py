"""What is left of a warm-up at the servers: what a browser opened after it had cleared, and answers it may still take."""

import pytest
from made_loads import connection, edge_query

from resolab.trials.page_load.warmup_activity import WarmUpActivity, drop_open_connections

CLEARED_NS = 10_000
BEFORE, AFTER = CLEARED_NS - 1, CLEARED_NS + 1
RESOLVER = "10.77.0.1"


def under_way(*arguments, **more):
    return WarmUpActivity().list_under_way(*arguments, **more)


@pytest.mark.parametrize(
    "left",
    [
        connection(accepted_ns=AFTER),
        connection(accepted_ns=AFTER, handshake_complete_ns=AFTER, closed_ns=AFTER + 5),
        connection(accepted_ns=BEFORE),
        connection(accepted_ns=BEFORE, handshake_complete_ns=AFTER),
        connection(accepted_ns=BEFORE, local_address="[fd00::1]:443"),
    ],
    ids=["opened", "opened and closed", "opening", "opened meanwhile", "IPv6"],
)
def test_a_connection_that_the_browser_did_not_close_is_under_way(left):
    assert under_way([left], CLEARED_NS) == [f"connection to {left.local_address}"]


@pytest.mark.parametrize(
    "gone",
    [
        connection(accepted_ns=BEFORE, handshake_complete_ns=BEFORE, closed_ns=AFTER),
        connection(accepted_ns=BEFORE, handshake_complete_ns=BEFORE),
        connection(accepted_ns=BEFORE, closed_ns=AFTER),
        connection(accepted_ns=BEFORE, local_address="10.77.0.1:53"),
    ],
    ids=["closed", "its close lost", "given up while opening", "TCP alone, which has no handshake to wait for"],
)
def test_a_connection_that_was_open_when_the_browser_cleared_is_not(gone):
    assert under_way([gone], CLEARED_NS) == []


def test_the_last_record_of_a_connection_counts():
    opening = connection(accepted_ns=BEFORE)
    assert under_way([opening, connection(accepted_ns=BEFORE, closed_ns=AFTER)], CLEARED_NS) == []


def test_a_handshake_on_which_nothing_comes_was_given_up():
    view, opening = WarmUpActivity(), connection(accepted_ns=BEFORE, received_bytes=1_200)
    assert view.list_under_way([opening], CLEARED_NS) != []
    assert view.list_under_way([opening], AFTER) == []
    assert view.list_under_way([connection(accepted_ns=BEFORE, received_bytes=2_400)], AFTER) != []


def test_connections_that_are_to_stay_open_may():
    assert under_way([connection(accepted_ns=AFTER)], CLEARED_NS, kept_address=RESOLVER) == []
    other = connection(accepted_ns=AFTER, local_address="10.77.1.1:443")
    assert under_way([other], CLEARED_NS, kept_address=RESOLVER) == ["connection to 10.77.1.1:443"]


def test_a_query_whose_answer_the_browser_may_take_is_under_way():
    closed = connection(accepted_ns=BEFORE, handshake_complete_ns=BEFORE, closed_ns=AFTER)
    alone = edge_query(connection_id=None, received_ns=AFTER)
    assert under_way([alone], CLEARED_NS) == [f"query for {alone.qname} A"]
    assert under_way([closed, edge_query(received_ns=AFTER)], CLEARED_NS) == []
    kept = connection(accepted_ns=BEFORE, handshake_complete_ns=BEFORE)
    assert under_way([kept, edge_query(received_ns=AFTER)], CLEARED_NS, kept_address=RESOLVER) != []
    assert under_way([edge_query(connection_id=None, received_ns=BEFORE)], CLEARED_NS) == []


def test_records_of_open_connections_are_left_out_as_they_come_again():
    closed, query = connection(closed_ns=AFTER), edge_query()
    assert drop_open_connections([connection(), closed, query]) == [closed, query]
