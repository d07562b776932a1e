"""What a box's servers got against what was told: one contact too many, one name missing, one late load must show."""

import pytest
from made_box import a_layout

from resolab.extras.internet.contact_check import hold
from resolab.extras.internet.contact_check.box_contacts import BoxContacts, ContactFlow, OptOutListing, SiteRequests
from resolab.extras.internet.contact_check.contact_counts import EVERY_SITE, CapVerdict, find_most_within
from resolab.extras.internet.contact_check.named_addresses import ContactNaming
from resolab.plan.manners import HARD_CAPS, PlannedContacts, contacts

SECOND_NS = 1_000_000_000
HOUR_NS = 3_600 * SECOND_NS
LAYOUT = a_layout()
PAGE, OTHER_PAGE = LAYOUT.sites[0], LAYOUT.sites[1]
FURTHER = next(one for one in PAGE.origins if not one.host.endswith(PAGE.domain))
KNOT, QUICK, LOCAL, DEAF = "198.18.3.1", "198.18.6.1", "198.18.1.1", "198.18.7.1"
CAPS = HARD_CAPS.lower({"loads_per_site_per_hour": 5, "loads_per_hour": 8, "queries_per_resolver_per_hour": 300})


def named(url=PAGE.url, resolvers=("198.18.3.1", "https://dns.quick.example/dns-query")):
    intended = PlannedContacts(
        urls=[url], loads_of={url: 3}, resolvers=[(one, 3) for one in resolvers], system_resolver=f"udp://{LOCAL}",
        opt_out="https://optout.example/opt-out.txt", batches_count=3,
    )  # fmt: skip
    return contacts(intended, CAPS)


def flow(address, protocol="tcp", port=443, packets=1, windows=None, source="home"):
    return ContactFlow(
        source=source, address=address, protocol=protocol, port=port, packets_count=packets,
        windows=[(0, packets)] if windows is None else windows,
    )  # fmt: skip


EXPECTED = (
    flow(PAGE.origins[0].address), flow(KNOT, "udp", 53), flow(KNOT, "1", None), flow(QUICK), flow(LOCAL, "udp", 53),
)  # fmt: skip


def seen(flows=EXPECTED, **more):
    return BoxContacts(**{"counted_from_ns": 0, "sites": {}, "flows": flows} | more)


def held(**more):
    return hold(LAYOUT, seen(**more), named(), CAPS)


def count_of(found, whom):
    return next(one for one in found.counted if one.whom == whom)


def test_what_was_named_is_found_by_address_port_and_protocol():
    found = held()
    assert found.is_good
    assert {one.named_as for one in found.contacted} == {ContactNaming.NAMED}
    assert [[reason.value for reason in one.reasons] for one in found.contacted] == [
        ["page"], ["resolver"], ["ping"], ["resolver"], ["bootstrap"],
    ]  # fmt: skip
    never = {(one.reason.value, one.host) for one in found.never_contacted}
    assert never == {("opt_out", "optout.example"), ("ping", "dns.quick.example")}


def test_a_further_host_of_a_page_is_that_pages():
    found = hold(LAYOUT, seen(flows=(*EXPECTED, flow(FURTHER.address))), named(), CAPS)
    assert found.contacted[-1].named_as is ContactNaming.OF_PAGE
    assert found.is_good


@pytest.mark.parametrize(
    "stray",
    [
        flow(DEAF, "udp", 53),
        flow(KNOT, "tcp", 853),
        flow(QUICK, "udp", 443),
        flow(PAGE.origins[0].address, "tcp", 80, 1),
        flow("224.0.0.251", "udp", 5353),
        flow(OTHER_PAGE.origins[0].address),
        flow(OTHER_PAGE.origins[0].address, "1", None),
    ],
)
def test_whoever_was_not_named_shows(stray):
    found = hold(LAYOUT, seen(flows=(*EXPECTED, stray)), named(), CAPS)
    of_the_page = stray.address == PAGE.origins[0].address
    assert [one.address for one in found.not_named] == ([] if of_the_page else [stray.address])
    assert found.is_good is of_the_page


def test_a_name_the_dry_run_leaves_out_is_missed():
    named_less = [one for one in named() if one.host != "dns.quick.example"]
    found = hold(LAYOUT, seen(), named_less, CAPS)
    assert [one.address for one in found.not_named] == [QUICK]
    assert not found.is_good


def test_what_resolvers_ask_of_servers_is_no_contact_of_home():
    assert held(flows=(*EXPECTED, flow("198.18.8.1", "udp", 53, source="knot"))).is_good


def test_an_answer_of_the_kernel_to_somebody_named_is_no_contact_of_its_own():
    assert held(flows=(*EXPECTED, flow(PAGE.origins[0].address, "1", None))).is_good


def loads(count, apart_ns=SECOND_NS):
    return SiteRequests(documents_ns=[number * apart_ns for number in range(count)])


@pytest.mark.parametrize(("count", "good"), [(5, True), (6, False)])
def test_one_load_above_a_sites_hour_shows(count, good):
    found = held(sites={PAGE.domain: loads(count)})
    assert count_of(found, PAGE.domain).of_hour == count
    assert found.is_good is good


def test_hours_are_any_hours_and_what_is_one_apart_is_in_two():
    within = held(sites={PAGE.domain: SiteRequests(documents_ns=[0, *[HOUR_NS - 1] * 4, HOUR_NS, HOUR_NS + 1])})
    assert count_of(within, PAGE.domain).of_hour == 6
    apart = held(sites={PAGE.domain: SiteRequests(documents_ns=[*[0] * 5, *[HOUR_NS] * 5])})
    assert (count_of(apart, PAGE.domain).of_hour, count_of(apart, PAGE.domain).of_minute) == (5, 5)
    assert apart.is_good
    assert count_of(apart, EVERY_SITE).total_count == 10


def test_a_day_and_all_sites_have_caps_of_their_own():
    daily = HARD_CAPS.lower({"loads_per_site_per_day": 7})
    hourly = [number * HOUR_NS for number in range(8)]
    found = hold(LAYOUT, seen(sites={PAGE.domain: SiteRequests(documents_ns=hourly)}), named(), daily)
    assert (count_of(found, PAGE.domain).of_hour, count_of(found, PAGE.domain).of_day) == (1, 8)
    assert count_of(found, PAGE.domain).kept is CapVerdict.EXCEEDED
    both = held(sites={PAGE.domain: loads(4), OTHER_PAGE.domain: loads(5)})
    assert [one.whom for one in both.exceeded] == [EVERY_SITE]


@pytest.mark.parametrize(("count", "kept"), [(300, CapVerdict.KEPT), (301, CapVerdict.EXCEEDED)])
def test_one_query_above_a_resolvers_hour_shows(count, kept):
    windows = [(number * 5 * SECOND_NS, 1) for number in range(count)]
    flows = (flow(KNOT, "udp", 53, count, windows),)
    assert count_of(held(flows=flows), KNOT).kept is kept
    of_edge = {"quick": {"doh": [number * SECOND_NS for number in range(count)], "dot": [0] * 1_000}}
    found = held(flows=(flow(QUICK, packets=9_999),), queries_ns=of_edge)
    assert count_of(found, "dns.quick.example").kept is kept


def test_packets_without_an_instant_are_counted_in_the_worst_hour():
    assert count_of(held(flows=(flow(KNOT, "udp", 53, 301, []),)), KNOT).kept is CapVerdict.EXCEEDED


def test_packets_of_a_connection_are_no_queries():
    rows = named(resolvers=("tls://dns.knot.example",))
    found = hold(LAYOUT, seen(flows=(flow(KNOT, "tcp", 853, 301),)), rows, CAPS)
    knot = count_of(found, "dns.knot.example")
    assert (knot.of_hour, knot.packets_of_hour, knot.kept) == (0, 301, CapVerdict.NOT_SHOWN)
    assert found.not_shown == [knot]
    assert found.is_good


def test_the_highest_sum_is_found_among_all_windows():
    counts = [(at * SECOND_NS, count) for at, count in [(70, 3), (0, 1), (59, 2), (60, 4), (130, 5)]]
    brute = max(
        sum(count for at_ns, count in counts if end_ns - 60 * SECOND_NS < at_ns <= end_ns) for end_ns, _ in counts
    )
    assert find_most_within(counts, 60) == brute == 9
    assert find_most_within([], 60) == 0


def on_list(domain, since_s, until_s=None):
    until_ns = None if until_s is None else until_s * SECOND_NS
    return [OptOutListing(domain=domain, since_ns=since_s * SECOND_NS, until_ns=until_ns)]


def instants(*seconds):
    return [at * SECOND_NS for at in seconds]


@pytest.mark.parametrize(
    ("last_s", "obeyed"),
    [(9, True), (19, True), (20, True), (21, False)],
)
def test_a_listed_site_may_be_contacted_until_the_next_batch_begins(last_s, obeyed):
    host = PAGE.origins[0].host
    found = held(
        listed=on_list(PAGE.domain, 10), opt_out_fetches_ns=instants(0, 10, 20, 30),
        last_requests_ns={host: last_s * SECOND_NS},
    )  # fmt: skip
    judged = next(one for one in found.listed if one.host == host)
    assert (judged.batch_ns, judged.obeyed) == (20 * SECOND_NS, obeyed)
    assert found.is_good is obeyed


def test_without_another_batch_nothing_was_disobeyed_and_a_datasets_blocks_are_batches_too():
    host = PAGE.origins[0].host
    late = seen(listed=on_list(PAGE.domain, 10), last_requests_ns={host: 90 * SECOND_NS})
    assert hold(LAYOUT, late, named(), CAPS).is_good
    assert not hold(LAYOUT, late, named(), CAPS, batches_ns=instants(0, 40, 80)).is_good


@pytest.mark.parametrize(("loads_s", "obeyed"), [((5, 25), True), ((5, 25, 35), False)])
def test_a_page_that_reaches_a_listed_host_is_loaded_once_more_at_most(loads_s, obeyed):
    found = held(
        listed=on_list(FURTHER.host, 10), opt_out_fetches_ns=instants(0, 20, 30, 40),
        sites={PAGE.domain: SiteRequests(documents_ns=instants(*loads_s))},
        last_requests_ns={FURTHER.host: instants(loads_s[-1])[0] + 1},
    )  # fmt: skip
    assert [(one.host, one.obeyed) for one in found.listed] == [(FURTHER.host, obeyed)]


def test_who_was_taken_off_the_list_is_judged_no_more():
    host = PAGE.origins[0].host
    found = held(
        listed=on_list(PAGE.domain, 10, 50), opt_out_fetches_ns=instants(20), last_requests_ns={host: 99 * SECOND_NS}
    )
    assert found.listed == []


def test_the_list_covers_all_names_below_a_domain():
    found = held(listed=on_list(PAGE.domain, 10))
    below = [one.host for one in PAGE.origins if one.host == PAGE.domain or one.host.endswith(f".{PAGE.domain}")]
    assert [one.host for one in found.listed] == below
    assert len(below) > 1
