"""What the box counts, against which manners are held."""

import json

from made_box import a_layout

from resolab.basics.records import EdgeRequestRecord, HttpVersion, InternetFlow
from resolab.extras.internet.contacts import ContactCounter


def a_request(host, path, received_ns, status=200):
    return EdgeRequestRecord(
        connection_id=1, http_version=HttpVersion.H2, peer_address="198.18.0.1:4000", received_ns=received_ns,
        in_early_data=False, method="GET", authority=host, path=path, status=status, body_bytes=0,
    )  # fmt: skip


def a_flow(source, address, protocol, port, packets=1):
    return InternetFlow(
        source_host=source, destination_address=address, destination_host=None, protocol=protocol,
        destination_port=port, packets_count=packets, total_bytes=100 * packets,
    )  # fmt: skip


def test_documents_and_requests_are_counted_by_domain(tmp_path):
    contacts = ContactCounter(a_layout())
    contacts.take("web", a_request("h0.s0-calibre-2020-07.test", "/0.html", 5))
    contacts.take("web", a_request("h0.s0-calibre-2020-07.test", "/1.css", 6, 404))
    contacts.take("web", a_request("www.too-many.test", "/", 7, 429))
    contacts.write(tmp_path / "contacts.json")
    sites = json.loads((tmp_path / "contacts.json").read_text())["sites"]
    assert sites["s0-calibre-2020-07.test"] == {
        "requests_count": 2,
        "documents_ns": [5],
        "statuses": {"200": 1, "404": 1},
    }
    assert sites["too-many.test"] == {"requests_count": 1, "documents_ns": [7], "statuses": {"429": 1}}


def test_flows_add_up_and_answers_are_left_out():
    contacts = ContactCounter(a_layout())
    for _ in range(2):
        contacts.add_flows([a_flow("home", "198.18.3.1", "udp", 53, 2), a_flow("knot", "198.18.8.1", "udp", 53)])
    contacts.add_flows([a_flow("auth-a", "198.18.3.1", "udp", 4938), a_flow("knot", "198.18.0.1", "tcp", None)])
    contacts.add_flows([a_flow("home", "198.18.3.1", "1", None)])
    told = contacts.as_dict()["flows"]
    assert isinstance(told, list)
    seen = {(one["source"], one["name"], one["protocol"], one["port"]): one["packets_count"] for one in told}
    assert seen == {
        ("home", "knot", "udp", 53): 4,
        ("knot", "root", "udp", 53): 2,
        ("home", "knot", "1", None): 1,
    }
