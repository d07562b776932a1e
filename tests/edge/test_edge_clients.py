"""Our edge asked over every DNS transport by clients of other makers, judged by its own records too."""

import re
import ssl
import subprocess

import dns.message
import dns.query
import dns.rdatatype
import pytest
from edge_under_test import ASKED, NAME, OWN_ADDRESS, PORTS

KDIG = {
    "doudp": ["+notcp"], "dotcp": ["+tcp"], "dot": [], "doh": ["+https"], "doh by get": ["+https", "+https-get"],
    "doq": ["+quic"],
}  # fmt: skip
KDIG_SAYS = {
    "doudp": "(UDP)", "dotcp": "(TCP)", "dot": "TLS session (TLS1.3)", "doh": "HTTP session (HTTP/2", "doq": "QUIC session",
}  # fmt: skip
DIG = {"doudp": ["+notcp"], "dotcp": ["+tcp"], "dot": ["+tls"], "doh": ["+https"], "doh by get": ["+https-get"]}
DNSPYTHON = ("doudp", "dotcp", "dot", "doh", "doh by get", "doh3", "doq")
TIMEOUT_S = 20


def said_by(*command):
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


def trust(edge, transport):
    return [] if edge.port(transport) == PORTS["do53"] else [f"+tls-ca={edge.ca}", f"+tls-hostname={NAME}"]


def holds_the_address(answer):
    return re.search(rf"{re.escape(ASKED)}\.\s+300\s+IN\s+A\s+{re.escape(OWN_ADDRESS)}", answer)


@pytest.mark.parametrize("way", KDIG)
def test_kdig(edge, way):
    transport = way.split()[0]
    # +quic stands last: +tls-ca after it would mean DoT
    options = [*trust(edge, transport), *KDIG[way], ASKED, "A"]
    answer = said_by("kdig", f"@{edge.address}", "-p", edge.port(transport), *options)
    assert holds_the_address(answer), answer
    assert KDIG_SAYS[transport] in answer, answer
    edge.judge(transport)


@pytest.mark.parametrize("way", DIG)
def test_dig(edge, way):
    transport = way.split()[0]
    options = [*DIG[way], *trust(edge, transport), "+nocookie", "+tries=1", ASKED, "A"]
    answer = said_by("dig", f"@{edge.address}", "-p", edge.port(transport), *options)
    assert holds_the_address(answer), answer
    edge.judge(transport)


@pytest.mark.parametrize("way", DNSPYTHON)
def test_dnspython(edge, way):
    transport = way.split()[0]
    query = dns.message.make_query(ASKED, "A")
    where, options = edge.address, {"port": edge.port(transport), "timeout": TIMEOUT_S}
    ca = str(edge.ca)
    https = {"timeout": TIMEOUT_S, "bootstrap_address": where, "post": way == transport}
    # over HTTP/2 the HTTP client wants a context, over HTTP/3 aioquic a file
    https["verify"] = ca if transport == "doh3" else ssl.create_default_context(cafile=ca)
    url = f"https://{NAME}:{edge.port(transport)}/dns-query"
    versions = {"doh": dns.query.HTTPVersion.H2, "doh3": dns.query.HTTPVersion.H3}
    answer = {
        "doudp": lambda: dns.query.udp(query, where, **options),
        "dotcp": lambda: dns.query.tcp(query, where, **options),
        "dot": lambda: dns.query.tls(query, where, **options, server_hostname=NAME, verify=ca),
        "doq": lambda: dns.query.quic(query, where, **options, server_hostname=NAME, hostname=NAME, verify=ca),
    }.get(
        transport,
        lambda: dns.query.https(query, url, **https, http_version=versions[transport]),
    )()
    (found,) = answer.answer
    assert (found.rdtype, found.ttl, [rdata.to_text() for rdata in found]) == (dns.rdatatype.A, 300, [OWN_ADDRESS])
    edge.judge(transport)
