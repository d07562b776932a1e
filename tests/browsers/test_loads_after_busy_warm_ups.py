"""A load is cold although its warm-up was still opening connections when its page was closed."""

import asyncio
import time

import pytest
from browser_lab import measured

from resolab.basics.records import ConnectionRecord, ConnectionState, EdgeQueryRecord, EdgeRequestRecord
from resolab.plan import Corpus, load_plan
from resolab.trials.page_load.runner import PageLoadRunner

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
HOSTS = [f"n{number}.busy.resolab.test" for number in range(1, 9)]
DOCUMENT = """<!doctype html><link rel=icon href=data:,><title>t</title><h1>Words</h1>
<script>addEventListener('load', () => {
  for (const host of [%s]) fetch(`https://${host}/`, {mode: 'no-cors'}).catch(() => {});
})</script>"""
PAGE = """
description = "At its load event it asks eight other names."
source = "made for this test"
host = "busy.resolab.test"
folder = "own"
path = "/"
request_count = 1
[hosts]
"""
PLAN = """
name = "busy"
question = "Is a load cold after a warm-up that is still at work?"
seed = 1
blocks = 1
[factors]
page = ["./busy"]
profile = ["4g"]
dns_transport = ["doh3"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
browser = ["{browser}"]
[resolver_path]
doh3 = "{resolver_path}"
[baseline]
dns_transport = "doh3"
[limits]
page_timeout_s = 20
"""
NOT_COLD = {"dns_connection_mismatch", "page_connection_mismatch", "connections_left_open"}
"""`no_lookup_in_load` is not among them: it is right of the other names when the trial ends before they are asked for."""


def make_page(folder):
    page = folder / "busy"
    for name, text in {"own": DOCUMENT % ",".join(f"'{host}'" for host in HOSTS), "other": "<!doctype html>"}.items():
        (page / name).mkdir(parents=True)
        (page / name / "index.html").write_text(text)
    (page / "page.toml").write_text(PAGE + "".join(f'"{host}" = "other"\n' for host in HOSTS))


async def scenario(browser, resolver_path, folder):
    make_page(folder)
    (folder / "plan.toml").write_text(PLAN.format(browser=browser, resolver_path=resolver_path))
    plan = load_plan(folder / "plan.toml", Corpus.from_project())
    corpus = Corpus.from_project(plan.own_pages)
    (condition,) = plan.conditions()
    began_ns = []
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:

        async def note_begin():
            began_ns.append(time.monotonic_ns())

        testbed.before_measured = note_begin
        results = [await testbed.run_trial(condition, f"b000-t{number:03}") for number in range(3)]
    return list(zip(results, began_ns, strict=True))


def on_older_connections(result, began_ns):
    """Names of those queries and requests of the measured load that came on connections from before it."""
    accepted_ns = {one.connection_id: one.accepted_ns for one in result.records if isinstance(one, ConnectionRecord)}
    exchanges = [one for one in result.records if isinstance(one, EdgeQueryRecord | EdgeRequestRecord)]
    return [
        one.qname if isinstance(one, EdgeQueryRecord) else one.authority
        for one in exchanges
        if one.received_ns >= began_ns and accepted_ns[one.connection_id] < began_ns
    ]


@pytest.mark.parametrize(("browser", "resolver_path"), [("chromium", "native"), ("firefox", "stub")])
def test_a_load_finds_nothing_of_a_warm_up_that_was_still_at_work(browser, resolver_path, privileged, tmp_path):
    trials = asyncio.run(scenario(browser, resolver_path, tmp_path))
    assert [NOT_COLD & set(result.flags) for result, _ in trials] == [set()] * 3
    loads = [measured(result) for result, _ in trials]
    states = {(one.dns_cache_state, one.dns_connection_state, one.socket_state) for one in loads}
    assert states == {(ConnectionState.COLD,) * 3}
    assert [on_older_connections(result, began_ns) for result, began_ns in trials] == [[]] * 3
