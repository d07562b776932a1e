"""Early data over QUIC from aioquic, under each ticket policy: a DoQ query in the first flight, by a stack that is not ours."""

import asyncio

import dns.message
import pytest
from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import HandshakeCompleted, StreamDataReceived
from edge_under_test import ASKED, NAME, OWN_ADDRESS, connection_of

QUERY = dns.message.make_query(ASKED, "A", id=0).to_wire()
TIMEOUT_S = 20


class Asking(QuicConnectionProtocol):
    """One query on the connection's first stream (RFC 9250 section 4.2)."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.received = b""
        self.handshake_completed = asyncio.Event()
        self.answer = asyncio.get_running_loop().create_future()

    def ask(self):
        self._quic.send_stream_data(0, len(QUERY).to_bytes(2) + QUERY, end_stream=True)
        self.transmit()

    def quic_event_received(self, event):
        if isinstance(event, HandshakeCompleted):
            self.handshake_completed.set()
        elif isinstance(event, StreamDataReceived) and event.stream_id == 0:
            self.received += event.data
            if event.end_stream:
                self.answer.set_result(dns.message.from_wire(self.received[2:]))


def queries_of(records):
    return [record for record in records if record["record"] == "edge_query"]


def exchange(edge, ticket=None, *, hears_late=False):
    """Ask once; what was answered, and the ticket that came. A client that hears late cannot end its handshake before the edge has answered."""
    tickets, records = [], []
    configuration = QuicConfiguration(alpn_protocols=["doq"], server_name=NAME, session_ticket=ticket)
    configuration.load_verify_locations(str(edge.ca))

    async def play():
        where = edge.address, edge.port("doq")
        options = {"create_protocol": Asking, "session_ticket_handler": tickets.append}
        async with (
            asyncio.timeout(TIMEOUT_S),
            connect(*where, configuration=configuration, wait_connected=ticket is None, **options) as connection,
        ):
            connection.ask()
            while hears_late and not queries_of(records):
                # Nothing is received meanwhile: this holds the client's event loop.
                records.extend(edge.records())
            answer = await connection.answer
            await connection.handshake_completed.wait()
            # the ticket follows the handshake, and so does the edge's record of it
            await connection.ping()
            return answer

    answer = asyncio.run(play())
    assert [rdata.to_text() for rdata in answer.answer[0]] == [OWN_ADDRESS]
    records += edge.records()
    (query,) = queries_of(records)
    assert (query["dns_transport"], query["rcode"]) == ("doq", "NOERROR")
    connection = connection_of(query, records)
    assert (connection["alpn"], connection["protocol"], connection["failure"]) == ("doq", "quic", None)
    return query, connection, tickets[-1] if tickets else None


def set_policy(edge, policy):
    edge.command("set_ticket_policy", name=NAME, policy=policy)


def first(edge, policy):
    set_policy(edge, policy)
    query, connection, ticket = exchange(edge)
    assert (query["in_early_data"], connection["handshake_mode"]) == (False, "full"), connection
    return ticket


def test_early_data_is_accepted_and_said_to_be_early(edge):
    query, connection, _ = exchange(edge, first(edge, "early_data"), hears_late=True)
    assert (connection["handshake_mode"], connection["early_data_accepted"]) == ("zero_rtt", True), connection
    assert query["in_early_data"] is True


def test_a_ticket_without_early_data_resumes(edge):
    ticket = first(edge, "resume")
    assert not ticket.max_early_data_size
    query, connection, _ = exchange(edge, ticket)
    assert query["in_early_data"] is False
    assert (connection["handshake_mode"], connection["early_data_accepted"]) == ("resumed", None), connection


@pytest.mark.parametrize("policy", ["reject_early_data", "none"])
def test_a_policy_holds_against_tickets_given_before(edge, policy):
    ticket = first(edge, "early_data")
    assert ticket.max_early_data_size
    set_policy(edge, policy)
    query, connection, _ = exchange(edge, ticket)
    assert query["in_early_data"] is False
    asked = {"reject_early_data": ("resumed", False), "none": ("full", False)}[policy]
    assert (connection["handshake_mode"], connection["early_data_accepted"]) == asked, connection


def test_without_tickets_there_is_nothing_to_resume(edge):
    assert first(edge, "none") is None
