"""Names of one site on one certificate: what a browser does with the origins that servers tell it, and a gateway.

Pages that come when they are needed, as those of large plans do. Not for: the frames themselves (crates/edge), what
they save (docs/results).
"""

import asyncio

import pytest
from browser_lab import measured

from resolab.basics.records import (
    ConnectionReason,
    EdgeQueryRecord,
    EdgeRequestRecord,
    GatewayRequestRecord,
    PathSummaryRecord,
)
from resolab.lab import layout
from resolab.plan import Corpus, parse_plan
from resolab.trials.page_load.runner import PageLoadRunner

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
PLAN = """
name = "told"
question = "What do browsers do with origins that they are told?"
seed = 1
blocks = 1
[factors]
page = ["google-2018-11"]
profile = ["cable"]
dns_transport = ["doh3"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
browser = ["{browser}"]
connection_sharing = ["separate", "origin_frame", "resolver_connection"]
[pages]
certificates = "site"
[resolver_path]
doh3 = ["{alone}", "gateway"]
[[exclude]]
resolver_path = ["{alone}"]
connection_sharing = ["resolver_connection"]
[baseline]
resolver_path = "gateway"
connection_sharing = "separate"
"""


async def trials(browser, alone):
    corpus = Corpus.from_project()
    plan = parse_plan(PLAN.format(browser=browser, alone=alone), "told", corpus)
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:
        return {
            (one.resolver_path.value, one.connection_sharing.value): (
                await testbed.run_trial(one, f"b000-t{number:03}"),
                testbed.lab.sites[one.page],
            )
            for number, one in enumerate(plan.conditions())
        }


def of_load(result, kind):
    """Records of a kind that came in the measured load."""
    assert measured(result).failure is None
    (window,) = [one for one in result.records if isinstance(one, PathSummaryRecord) and one.label == "measured"]
    return [
        one
        for one in result.records
        if isinstance(one, kind) and window.window_start_ns <= one.received_ns <= window.window_end_ns
    ]


def names_asked(result, site):
    return {one.qname.removesuffix(".") for one in of_load(result, EdgeQueryRecord)} & {*site.hosts}


def names_by_connection(result):
    names = {}
    for one in of_load(result, EdgeRequestRecord):
        names.setdefault(one.connection_id, set()).add(one.authority.split(":")[0])
    return names


@pytest.mark.parametrize(("browser", "alone"), [("chromium", "native"), ("firefox", "stub")])
def test_chromium_asks_no_names_that_it_was_told_and_firefox_all_and_a_gateway_shares_by_them(
    monkeypatch, privileged, browser, alone
):
    monkeypatch.setattr(layout, "RESIDENT_NAMES_LIMIT", 1)
    found = asyncio.run(trials(browser, alone))
    plain, site = found[alone, "separate"]
    told, _ = found[alone, "origin_frame"]
    if browser == "chromium":
        # It takes ORIGIN frames of HTTP/3, and looks up what they do not name.
        assert names_asked(told, site) < names_asked(plain, site)
        assert max(map(len, names_by_connection(told).values())) > 1
    else:
        assert names_asked(told, site) == names_asked(plain, site)
    assert "no_lookup_in_load" not in told.flags
    separate, _ = found["gateway", "separate"]
    assert max(map(len, names_by_connection(separate).values())) == 1
    shared, _ = found["gateway", "origin_frame"]
    assert max(map(len, names_by_connection(shared).values())) > 1
    everything, _ = found["gateway", "resolver_connection"]
    (names,) = names_by_connection(everything).values()
    # How many of them lies in the load: some are asked after its end.
    assert len(names) > 1
    reasons = {one.connection_reason for one in of_load(everything, GatewayRequestRecord)}
    assert reasons == {ConnectionReason.ORIGIN}
