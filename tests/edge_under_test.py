"""Our edge on loopback for clients of other makers: zone, site, and what it says of those who came."""

import contextlib
import json
import os

from real_servers import core_program

from resolab.lab.engine import find_core

NAME = "dns.resolab.test"
SITE = "www.interop.test"
OWN_ADDRESS = "192.0.2.80"
"""What the zone says of a name that no page is served for."""
PORTS = {"do53": 5353, "dot": 8853, "doh": 8443, "doh3": 8443, "doq": 8853}
PORT_OF = {"doudp": "do53", "dotcp": "do53", "dot": "dot", "doh": "doh", "doh3": "doh3", "doq": "doq"}
ALPN = {"dot": "dot", "doh": "h2", "doh3": "h3", "doq": "doq"}
PAGE = b"<!doctype html><title>interop</title>a page"
STYLE = b"p { margin: 0 }\n"
LONG = b"".join(b"p%d { margin: %dpx }\n" % (number, number) for number in range(1_000))
CONFIGURATION = """
[ca]
folder = "ca"
[resolver]
name = "{name}"
addresses = ["{address}"]
ports = {ports}
origins = ["interop.test"]
[web]
h2_port = {web}
h3_port = {web}
[[site]]
host = "{site}"
address = "{address}"
folder = "site"
[[zone]]
name = "asked.interop.test"
type = "A"
value = "{own}"
"""
ASKED = "asked.interop.test"


class Edge:
    """A running edge."""

    def __init__(self, process, address, ca):
        self.process, self.address, self.ca = process, address, ca

    def port(self, transport):
        return PORTS[PORT_OF[transport]]

    def command(self, command, **arguments):
        """Tell it something; return the records it wrote before it was done with that."""
        self.process.stdin.write(json.dumps({"command": command, "id": 1} | arguments) + "\n")
        self.process.stdin.flush()
        records = []
        while not records or records[-1]["record"] != "command_done":
            records.append(json.loads(self.process.stdout.readline()))
        assert records[-1]["error"] is None, records[-1]
        return records[:-1]

    def records(self):
        """What it has seen since it was asked last."""
        return self.command("flush")

    def judge(self, transport, *, early=False, alpn=None):
        """The one query it has seen came over this transport, in early data or not, and was answered."""
        records = self.records()
        (query,) = [record for record in records if record["record"] == "edge_query"]
        assert (query["dns_transport"], query["rcode"]) == (transport, "NOERROR"), query
        assert (query["qname"].lower().rstrip("."), query["qtype"]) == (ASKED, "A"), query
        if transport not in ALPN:
            assert query["in_early_data"] is None, query
            return
        connection = connection_of(query, records)
        assert connection["alpn"] == (alpn or ALPN[transport]), connection
        assert query["in_early_data"] is early, query
        assert connection["handshake_mode"] == ("zero_rtt" if early else "full"), connection

    def request(self, **expected):
        """The one page request it has seen; returns its connection's record."""
        records = self.records()
        (request,) = [record for record in records if record["record"] == "edge_request"]
        assert {key: request[key] for key in expected} == expected, request
        return connection_of(request, records)


def connection_of(record, records):
    """The last record of the connection that something came on."""
    return [
        one for one in records if one["record"] == "connection" and one["connection_id"] == record["connection_id"]
    ][-1]


@contextlib.contextmanager
def edge_for(folder):
    """Run it; its address is this process's own, so that tests side by side do not meet."""
    address = f"127.{64 + os.getpid() % 64}.{os.getpid() >> 8 & 255}.{1 + os.getpid() % 254}"
    ports = "{ " + ", ".join(f"{transport} = {port}" for transport, port in PORTS.items()) + " }"
    values = {"name": NAME, "address": address, "ports": ports, "web": PORTS["doh"], "site": SITE, "own": OWN_ADDRESS}
    (folder / "edge.toml").write_text(CONFIGURATION.format(**values))
    (folder / "site").mkdir()
    (folder / "site/index.html").write_bytes(PAGE)
    (folder / "site/style.css").write_bytes(STYLE)
    (folder / "site/long.css").write_bytes(LONG)
    with core_program(find_core(), "edge", "--config", folder / "edge.toml") as (process, _):
        yield Edge(process, address, folder / "ca/ca.pem")
