"""Early data over TCP from OpenSSL's s_client, under each ticket policy: DoT, DoH and a page over HTTP/2, a page over HTTP/1.1."""

import base64
import contextlib
import os
import select
import socket
import subprocess
import threading
import time

import dns.message
import pytest
from edge_under_test import ALPN, ASKED, NAME, OWN_ADDRESS, PAGE, SITE, connection_of

ADDRESS = bytes(map(int, OWN_ADDRESS.split(".")))
TIMEOUT_S = 20
QUERY = dns.message.make_query(ASKED, "A", id=0).to_wire()


def h2_request(authority, path):
    """A whole HTTP/2 connection's beginning with one GET (RFC 9113 sections 3.4 and 6; RFC 7541 appendix A)."""

    def frame(kind, flags, stream, payload):
        return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload

    def literal(index, text):
        # without indexing, lengths above what fits a 7 bit prefix in its second byte
        length = bytes([len(text)]) if len(text) < 127 else bytes([127, len(text) - 127])
        return bytes([index]) + length + text.encode()

    headers = b"\x82\x87" + literal(1, authority) + literal(4, path)  # GET, https, :authority, :path
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 0x5, 1, headers)


DOH_PATH = "/dns-query?dns=" + base64.urlsafe_b64encode(QUERY).decode().rstrip("=")
WAYS = {  # port's transport, server name, ALPN, what is sent, what must come
    "dot": ("dot", NAME, "dot", len(QUERY).to_bytes(2) + QUERY, ADDRESS),
    "doh": ("doh", NAME, ALPN["doh"], h2_request(NAME, DOH_PATH), ADDRESS),
    "h2": ("doh", SITE, "h2", h2_request(SITE, "/"), PAGE),
    "h1": ("doh", SITE, "http/1.1", f"GET / HTTP/1.1\r\nhost: {SITE}\r\n\r\n".encode(), PAGE),
}
SEEN_AS = {"dot": "edge_query", "doh": "edge_query", "h2": "edge_request", "h1": "edge_request"}


@contextlib.contextmanager
def s_client(edge, way, *options, port=None):
    """OpenSSL's TLS client: what goes in is sent, what comes out was received; by another port than the edge's if told."""
    transport, name, alpn, _, _ = WAYS[way]
    command = ["openssl", "s_client", "-quiet", "-no_ign_eof", "-tls1_3", "-alpn", alpn, "-servername", name]
    where = f"{edge.address}:{port or edge.port(transport)}"
    command += ["-verify_return_error", "-CAfile", edge.ca, "-connect", where]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*map(str, command), *map(str, options)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
    )
    try:
        yield process
        process.stdin.close()
        assert process.wait(TIMEOUT_S) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def receive(process, wanted):
    """Read until it has come."""
    received, deadline = b"", time.monotonic() + TIMEOUT_S
    while wanted not in received:
        readable, _, _ = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))
        chunk = os.read(process.stdout.fileno(), 65536) if readable else b""
        assert chunk, received
        received += chunk


def wait_for_records(edge, enough, records=()):
    """Ask the edge until these and the new ones are enough."""
    records, deadline = [*records, *edge.records()], time.monotonic() + TIMEOUT_S
    while not enough(records):
        assert time.monotonic() < deadline, records
        records += edge.records()
    return records


def seen(edge, way, records=()):
    """The one query or request, and its connection once the handshake is over, which an early answer precedes."""

    def of(records):
        (record,) = [one for one in records if one["record"] == SEEN_AS[way]]
        return record, connection_of(record, records)

    return of(wait_for_records(edge, lambda records: of(records)[1]["handshake_mode"] is not None, records))


@contextlib.contextmanager
def relay(edge, way):
    """A port before the edge's; what the edge sends passes once the event is set, what the client sends at once."""
    heard = threading.Event()
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server((edge.address, 0)))
        listener.settimeout(TIMEOUT_S)

        def serve():
            with (
                listener.accept()[0] as client,
                socket.create_connection((edge.address, edge.port(WAYS[way][0]))) as server,
            ):
                back = threading.Thread(target=pass_on, args=(server, client, heard))
                back.start()
                pass_on(client, server)
                back.join()

        thread = threading.Thread(target=serve)
        thread.start()
        stack.callback(thread.join)
        yield listener.getsockname()[1], heard


def pass_on(source, sink, allowed=None):
    """All that comes, until its end."""
    with contextlib.suppress(OSError):
        while chunk := source.recv(65536):
            if allowed is not None:
                allowed.wait(TIMEOUT_S)
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)


def get_ticket(edge, way, session):
    """A first connection; its last ticket goes into the file, if any comes."""
    with s_client(edge, way, "-sess_out", session) as first:
        first.stdin.write(WAYS[way][3])
        receive(first, WAYS[way][4])
    record, connection = seen(edge, way)
    assert (record["in_early_data"], connection["handshake_mode"]) == (False, "full"), connection
    assert connection["alpn"] == WAYS[way][2]


def set_policy(edge, way, policy):
    edge.command("set_ticket_policy", name=WAYS[way][1], policy=policy)


@pytest.mark.parametrize("way", WAYS)
def test_early_data_is_accepted_and_said_to_be_early(edge, way, tmp_path):
    set_policy(edge, way, "early_data")
    get_ticket(edge, way, tmp_path / "session")
    early = tmp_path / "early"
    early.write_bytes(WAYS[way][3])
    options = "-sess_in", tmp_path / "session", "-early_data", early
    with relay(edge, way) as (port, heard), s_client(edge, way, *options, port=port) as second:
        # The client's part of the handshake cannot end before it has heard anything.
        records = wait_for_records(edge, lambda records: any(one["record"] == SEEN_AS[way] for one in records))
        heard.set()
        receive(second, WAYS[way][4])
        record, connection = seen(edge, way, records)
    assert (connection["handshake_mode"], connection["early_data_accepted"]) == ("zero_rtt", True), connection
    assert connection["alpn"] == WAYS[way][2]
    assert record["in_early_data"] is True


@pytest.mark.parametrize("way", WAYS)
def test_early_data_is_rejected_and_the_ticket_resumes(edge, way, tmp_path):
    set_policy(edge, way, "early_data")
    get_ticket(edge, way, tmp_path / "session")
    set_policy(edge, way, "reject_early_data")
    early = tmp_path / "early"
    early.write_bytes(WAYS[way][3])
    with s_client(edge, way, "-sess_in", tmp_path / "session", "-early_data", early) as second:
        # rejected: nobody has read it, so it is said again
        second.stdin.write(WAYS[way][3])
        receive(second, WAYS[way][4])
        record, connection = seen(edge, way)
    assert record["in_early_data"] is False
    assert (connection["handshake_mode"], connection["early_data_accepted"]) == ("resumed", False), connection


@pytest.mark.parametrize("way", WAYS)
def test_a_ticket_without_early_data_resumes(edge, way, tmp_path):
    set_policy(edge, way, "resume")
    get_ticket(edge, way, tmp_path / "session")
    shown = subprocess.run(
        ["openssl", "sess_id", "-in", tmp_path / "session", "-noout", "-text"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Max Early Data: 0\n" in shown.stdout, shown.stdout
    with s_client(edge, way, "-sess_in", tmp_path / "session") as second:
        second.stdin.write(WAYS[way][3])
        receive(second, WAYS[way][4])
        record, connection = seen(edge, way)
    assert record["in_early_data"] is False
    assert (connection["handshake_mode"], connection["early_data_accepted"]) == ("resumed", None), connection


@pytest.mark.parametrize("way", WAYS)
def test_without_tickets_there_is_nothing_to_resume(edge, way, tmp_path):
    set_policy(edge, way, "none")
    get_ticket(edge, way, tmp_path / "session")
    assert not (tmp_path / "session").exists()
