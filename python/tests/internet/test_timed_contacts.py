"""Counting with instants: since when, of what, and who stands on the list since when."""

import asyncio
import os
import time

import msgspec
import pytest
from made_box import a_layout

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, EdgeQueryRecord, EdgeRequestRecord, HttpVersion, InternetFlow
from resolab.extras.internet.contact_check import count_from_now, read_contacts
from resolab.extras.internet.contact_check.timed_counter import TimedContactCounter
from resolab.extras.internet.contacts import ContactCounter

HOST = "h0.s0-calibre-2020-07.test"
SECOND_NS = 1_000_000_000


class Clock:
    def __init__(self):
        self.now_ns = 100

    def __call__(self):
        return self.now_ns


def a_request(host, path, received_ns):
    return EdgeRequestRecord(
        connection_id=1, http_version=HttpVersion.H2, peer_address="198.18.0.1:4000", received_ns=received_ns,
        in_early_data=False, method="GET", authority=host, path=path, status=200, body_bytes=0,
    )  # fmt: skip


def a_query(received_ns, transport=DnsTransport.DOQ):
    return EdgeQueryRecord(
        dns_transport=transport, peer_address="198.18.0.1:4000", received_ns=received_ns, qname=HOST, qtype="A",
        query_bytes=40,
    )  # fmt: skip


def a_flow(source, packets):
    return InternetFlow(
        source_host=source, destination_address="198.18.3.1", destination_host="knot", protocol="udp",
        destination_port=53, packets_count=packets, total_bytes=100 * packets,
    )  # fmt: skip


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opt_outs(tmp_path):
    file = tmp_path / "opt-out.txt"
    file.write_text("# one domain a line\n")
    return file


@pytest.fixture
def timed(clock, opt_outs):
    return TimedContactCounter(a_layout(), opt_outs, clock)


def again(timed, folder):
    timed.write(folder / "contacts.json")
    return read_contacts(folder)


def test_what_came_before_the_counting_is_the_boxs_own(timed, tmp_path):
    timed.take("quick", a_query(99))
    timed.take("quick", a_query(100))
    timed.take("web", a_request(HOST, "/0.html", 99))
    timed.take("web", a_request(HOST, "/0.html", 101))
    seen = again(timed, tmp_path)
    assert (seen.counted_from_ns, seen.queries_ns) == (100, {"quick": {"doq": [100]}})
    assert seen.sites["s0-calibre-2020-07.test"].documents_ns == [101]


def test_packets_from_home_have_the_instant_they_were_counted_at(timed, clock, tmp_path):
    for now_ns, packets in ((200, 3), (300, 4)):
        clock.now_ns = now_ns
        timed.add_flows([a_flow("home", packets), a_flow("dnsdist", 1)])
    seen = again(timed, tmp_path)
    assert [(one.packets_count, [*map(tuple, one.windows)]) for one in seen.from_home] == [(7, [(200, 3), (300, 4)])]
    assert [one.windows for one in seen.flows if one.source == "dnsdist"] == [()]


def test_fetches_of_the_list_and_last_requests_are_kept(timed, tmp_path):
    for received_ns in (500, 400):
        timed.take("web", a_request("optout.example", "/opt-out.txt", received_ns))
        timed.take("web", a_request(HOST.upper() + ":443", "/1.css", received_ns + 1))
    seen = again(timed, tmp_path)
    assert seen.opt_out_fetches_ns == [500, 400]
    assert seen.last_requests_ns[HOST] == 501


def test_a_domain_stands_on_the_list_since_its_file_was_changed(timed, clock, opt_outs, tmp_path):
    clock.now_ns = 50 * SECOND_NS
    opt_outs.write_text("a.test\n")
    changed_s = time.time() - 3
    os.utime(opt_outs, (changed_s, changed_s))
    timed.add_flows([])
    (listed,) = again(timed, tmp_path).listed
    assert listed.domain == "a.test"
    assert listed.since_ns == pytest.approx(47 * SECOND_NS, abs=2 * SECOND_NS)
    since_ns = listed.since_ns
    clock.now_ns = 60 * SECOND_NS
    opt_outs.write_text("this is no list, but an error page\n")
    timed.add_flows([])
    assert again(timed, tmp_path).listed == [listed]
    opt_outs.write_text("b.test\n")
    timed.add_flows([])
    first, second = again(timed, tmp_path).listed
    assert (first.domain, first.since_ns, second.domain, second.until_ns) == ("a.test", since_ns, "b.test", None)
    assert first.until_ns == second.since_ns > since_ns


def test_a_box_counts_from_when_it_is_told(tmp_path):
    class MadeBox:
        folder, layout = tmp_path, a_layout()
        contacts = ContactCounter(layout)
        counted = 0

        async def count(self):
            self.counted += 1

    (tmp_path / "opt-out").mkdir()
    (tmp_path / "opt-out" / "opt-out.txt").write_text("a.test\n")
    box = MadeBox()
    asyncio.run(count_from_now(box))
    assert box.counted == 1
    seen = again(box.contacts, tmp_path)
    assert [(one.domain, one.since_ns) for one in seen.listed] == [("a.test", seen.counted_from_ns)]


def test_contacts_without_instants_are_refused(tmp_path):
    ContactCounter(a_layout()).write(tmp_path / "contacts.json")
    with pytest.raises(ConfigurationError, match="counted_from_ns"):
        read_contacts(tmp_path)
    with pytest.raises(ConfigurationError, match="internet up"):
        read_contacts(tmp_path / "nowhere")


def test_the_usual_keys_stay_as_they_are(timed, tmp_path):
    timed.add_flows([a_flow("home", 1)])
    timed.write(tmp_path / "contacts.json")
    told = msgspec.json.decode((tmp_path / "contacts.json").read_bytes())
    assert {"sites", "resolver_queries", "flows"} < told.keys()
