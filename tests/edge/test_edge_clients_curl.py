"""Our edge asked by curl: pages and DoH over HTTP/2 and HTTP/1.1, and pages whose names curl looks up by DoH."""

import base64
import subprocess

import dns.message
import dns.rcode
import pytest
from edge_under_test import ASKED, LONG, NAME, OWN_ADDRESS, PAGE, SITE, STYLE

MEDIA = "application/dns-message"
SAID = {
    "version": "%{http_version}", "status": "%{http_code}", "media": "%{content_type}", "new_connections": "%{num_connects}",
    "encoding": "%header{content-encoding}", "range": "%header{content-range}", "etag": "%header{etag}", "vary": "%header{vary}",
    "received_bytes": "%{size_download}",
}  # fmt: skip
VERSIONS = {"h2": ("--http2", "2", "h2"), "h1": ("--http1.1", "1.1", "http/1.1")}
TIMEOUT_S = 20


def curl(edge, *options, stdin=b"", known=(NAME, SITE)):
    """What it got, and what it said of it."""
    places = [word for name in known for word in ("--resolve", f"{name}:{edge.port('doh')}:{edge.address}")]
    command = ["curl", "-sS", "--cacert", edge.ca, *places, "-w", "\n" + "\t".join(SAID.values()), *options]
    ended = subprocess.run([*map(str, command)], input=stdin, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    body, _, said = ended.stdout.rpartition(b"\n")
    return body, dict(zip(SAID, said.decode().split("\t"), strict=True))


def page(edge, path="/"):
    return f"https://{SITE}:{edge.port('doh')}{path}"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_doh(edge, method, version):
    option, number, alpn = VERSIONS[version]
    url = f"https://{NAME}:{edge.port('doh')}/dns-query"
    query = dns.message.make_query(ASKED, "A", id=0).to_wire()
    if method == "GET":
        request = [url + "?dns=" + base64.urlsafe_b64encode(query).decode().rstrip("="), "-H", f"accept: {MEDIA}"]
    else:
        request = [url, "-H", f"content-type: {MEDIA}", "--data-binary", "@-"]
    body, said = curl(edge, option, *request, stdin=query)
    assert (said["version"], said["status"], said["media"]) == (number, "200", MEDIA)
    answer = dns.message.from_wire(body)
    assert answer.rcode() == dns.rcode.NOERROR
    assert [rdata.to_text() for rdata in answer.answer[0]] == [OWN_ADDRESS]
    edge.judge("doh", alpn=alpn)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("path", "status", "body", "media"),
    [("/", 200, PAGE, "text/html"), ("/style.css", 200, STYLE, "text/css"), ("/absent", 404, None, None)],
)
def test_a_page(edge, version, path, status, body, media):
    option, number, alpn = VERSIONS[version]
    got, said = curl(edge, option, page(edge, path))
    assert (said["version"], said["status"]) == (number, str(status))
    if body is not None:
        assert got == body
        assert said["media"].startswith(media)
    connection = edge.request(http_version=version, method="GET", path=path, status=status, in_early_data=False)
    assert (connection["alpn"], connection["server_name"]) == (alpn, SITE)
    assert connection["handshake_mode"] == "full"


@pytest.mark.parametrize("version", VERSIONS)
def test_head_has_no_body_and_other_methods_are_refused(edge, version):
    option = VERSIONS[version][0]
    head, said = curl(edge, option, "--head", page(edge))
    assert said["status"] == "200"
    assert f"content-length: {len(PAGE)}".encode() in head.lower()
    assert PAGE not in head
    edge.request(http_version=version, method="HEAD", status=200)
    _, said = curl(edge, option, "-X", "DELETE", page(edge))
    assert said["status"] == "405"
    edge.request(http_version=version, method="DELETE", status=405)


@pytest.mark.parametrize("version", VERSIONS)
def test_several_requests_share_a_connection(edge, version):
    option = VERSIONS[version][0]
    body, said = curl(edge, option, page(edge), page(edge, "/style.css"))
    assert PAGE in body
    assert STYLE.rstrip() in body
    assert said["new_connections"] == "0"  # of the last one
    records = edge.records()
    requests = [record for record in records if record["record"] == "edge_request"]
    assert [(record["http_version"], record["path"]) for record in requests] == [
        (version, "/"),
        (version, "/style.css"),
    ]
    assert len({record["connection_id"] for record in requests}) == 1


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("accepted", "encoding"), [("gzip", "gzip"), ("br", "br"), ("br;q=0.5, gzip", "gzip"), ("", "")]
)
def test_a_content_coding_is_negotiated(edge, version, accepted, encoding):
    # curl decodes what comes
    wanted = ["--compressed", "-H", f"accept-encoding: {accepted}" if accepted else "accept-encoding;"]
    body, said = curl(edge, VERSIONS[version][0], *wanted, page(edge, "/long.css"))
    assert body == LONG
    assert (said["status"], said["encoding"]) == ("200", encoding)
    assert "accept-encoding" in said["vary"].lower()
    received_bytes = int(said["received_bytes"])
    assert received_bytes < len(LONG) / 2 if encoding else received_bytes == len(LONG)
    edge.request(http_version=version, status=200, body_bytes=received_bytes)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_range_and_a_condition(edge, version):
    option = VERSIONS[version][0]
    part, said = curl(edge, option, "-r", "100-199", page(edge, "/long.css"))
    assert (part, said["status"], said["range"]) == (LONG[100:200], "206", f"bytes 100-199/{len(LONG)}")
    edge.request(http_version=version, status=206, body_bytes=100)
    none, said = curl(edge, option, "-H", f"if-none-match: {said['etag']}", page(edge, "/long.css"))
    assert (none, said["status"]) == (b"", "304")
    edge.request(http_version=version, status=304, body_bytes=0)


def test_a_page_whose_name_is_looked_up_by_doh(edge):
    body, said = curl(edge, "--doh-url", f"https://{NAME}:{edge.port('doh')}/dns-query", page(edge), known=[NAME])
    assert (body, said["status"]) == (PAGE, "200")
    records = edge.records()
    queries = [record for record in records if record["record"] == "edge_query"]
    assert {(record["dns_transport"], record["qname"].rstrip("."), record["qtype"]) for record in queries} == {
        ("doh", SITE, "A"), ("doh", SITE, "AAAA")
    }  # fmt: skip
    (request,) = [record for record in records if record["record"] == "edge_request"]
    assert request["received_ns"] > max(record["answered_ns"] for record in queries)
