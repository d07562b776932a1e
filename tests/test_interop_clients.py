"""The other direction: our edge asked by clients of other makers."""

import base64
import contextlib
import json
import os
import re
import subprocess

import pytest
from real_servers import core_program

from resolab.engine import find_core

NAME = "dns.resolab.test"
PORTS = {"do53": 5353, "dot": 8853, "doh": 8443, "doh3": 8443, "doq": 8853}
CONFIGURATION = """
[ca]
folder = "ca"
[resolver]
name = "{name}"
addresses = ["{address}"]
ports = {ports}
origins = ["interop.test"]
[[zone]]
name = "www.interop.test"
type = "A"
value = "192.0.2.80"
"""
QUERY = bytes.fromhex("000001000001000000000000") + b"\x03www\x07interop\x04test\x00\x00\x01\x00\x01"
FRAMED = len(QUERY).to_bytes(2) + QUERY
KDIG = {
    "doudp": ["+notcp"], "dotcp": ["+tcp"], "dot": [], "doh": ["+https"], "doh by get": ["+https", "+https-get"],
    "doq": ["+quic"],
}  # fmt: skip
KDIG_SAYS = {
    "doudp": "(UDP)", "dotcp": "(TCP)", "dot": "TLS session (TLS1.3)", "doh": "HTTP session (HTTP/2", "doq": "QUIC session",
}  # fmt: skip
DIG = {"doudp": ["+notcp"], "dotcp": ["+tcp"], "dot": ["+tls"], "doh": ["+https"], "doh by get": ["+https-get"]}


class Edge:
    """A running edge, and what it says of those who ask."""

    def __init__(self, process, address, ca):
        self.process, self.address, self.ca = process, address, ca

    def records(self):
        """What it has seen since it was asked last."""
        self.process.stdin.write('{"command":"flush","id":1}\n')
        self.process.stdin.flush()
        records = []
        while not records or records[-1]["record"] != "command_done":
            records.append(json.loads(self.process.stdout.readline()))
        return records[:-1]

    def judge(self, transport):
        """The one query it has seen came over this transport and was answered."""
        (query,) = [record for record in self.records() if record["record"] == "edge_query"]
        assert (query["dns_transport"], query["rcode"]) == (transport, "NOERROR"), query
        assert (query["qname"].lower().rstrip("."), query["qtype"]) == ("www.interop.test", "A")


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edge")
    address = f"127.{64 + os.getpid() % 64}.{os.getpid() >> 8 & 255}.{1 + os.getpid() % 254}"
    ports = "{ " + ", ".join(f"{transport} = {port}" for transport, port in PORTS.items()) + " }"
    (folder / "edge.toml").write_text(CONFIGURATION.format(name=NAME, address=address, ports=ports))
    with core_program(find_core(), "edge", "--config", folder / "edge.toml") as (process, _):
        yield Edge(process, address, folder / "ca/ca.pem")


def client(*command, stdin=b""):
    ended = subprocess.run([*map(str, command)], input=stdin, capture_output=True, timeout=20, check=False)
    assert ended.returncode == 0, ended.stderr.decode() + ended.stdout.decode()
    return ended.stdout


@pytest.mark.parametrize("way", KDIG)
def test_kdig(edge, way):
    transport = way.split()[0]
    port = PORTS.get(transport, PORTS["do53"])
    trust = [] if port == PORTS["do53"] else [f"+tls-ca={edge.ca}", f"+tls-hostname={NAME}"]
    # +quic stands last: +tls-ca after it would mean DoT
    answer = client("kdig", f"@{edge.address}", "-p", port, *trust, *KDIG[way], "www.interop.test", "A").decode()
    assert re.search(r"www\.interop\.test\.\s+300\s+IN\s+A\s+192\.0\.2\.80", answer), answer
    assert KDIG_SAYS[transport] in answer, answer
    edge.judge(transport)


@pytest.mark.parametrize("way", DIG)
def test_dig(edge, way):
    transport = way.split()[0]
    port = PORTS.get(transport, PORTS["do53"])
    trust = [] if port == PORTS["do53"] else [f"+tls-ca={edge.ca}", f"+tls-hostname={NAME}"]
    options = ["+nocookie", "+tries=1"]
    answer = client(
        "dig", f"@{edge.address}", "-p", port, *DIG[way], *trust, *options, "www.interop.test", "A"
    ).decode()
    assert re.search(r"www\.interop\.test\.\s+300\s+IN\s+A\s+192\.0\.2\.80", answer), answer
    edge.judge(transport)


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_curl(edge, method):
    url = f"https://{NAME}:{PORTS['doh']}/dns-query"
    media = "application/dns-message"
    if method == "GET":
        request = [url + "?dns=" + base64.urlsafe_b64encode(QUERY).decode().rstrip("="), "-H", f"accept: {media}"]
    else:
        request = [url, "-H", f"content-type: {media}", "--data-binary", "@-"]
    trust = ["--cacert", edge.ca, "--resolve", f"{NAME}:{PORTS['doh']}:{edge.address}"]
    said = "%{http_version} %{http_code} %{content_type}"
    body = client("curl", "-sS", "--http2", *trust, *request, "-w", said, stdin=QUERY)
    assert body.endswith(f"2 200 {media}".encode()), body
    assert bytes([192, 0, 2, 80]) in body
    edge.judge("doh")


@contextlib.contextmanager
def s_client(edge, *options):
    """OpenSSL's TLS client: what goes in is sent, what comes out was received."""
    command = ["openssl", "s_client", "-quiet", "-no_ign_eof", "-tls1_3", "-alpn", "dot", "-servername", NAME]
    command += ["-verify_return_error", "-CAfile", edge.ca, "-connect", f"{edge.address}:{PORTS['dot']}", *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen([*map(str, command)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)
    try:
        yield process
        process.stdin.close()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_openssl_sends_early_data_over_dot(edge, tmp_path):
    session, early = tmp_path / "session", tmp_path / "early"
    early.write_bytes(FRAMED)
    with s_client(edge, "-sess_out", session) as first:
        first.stdin.write(FRAMED)
        assert bytes([192, 0, 2, 80]) in first.stdout.read(4096)
    edge.judge("dot")
    with s_client(edge, "-sess_in", session, "-early_data", early) as second:
        assert bytes([192, 0, 2, 80]) in second.stdout.read(4096)
        records = edge.records()
    (connection,) = [record for record in records if record["record"] == "connection" and record["closed_ns"] is None]
    assert connection["early_data_accepted"] is True, connection
    assert connection["alpn"] == "dot"
    assert [record["dns_transport"] for record in records if record["record"] == "edge_query"] == ["dot"]
