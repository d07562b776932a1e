"""A browser, the edge and the stub killed in the middle of a load: it ends as its class in time, and the next is good."""

import asyncio
import os
import signal
import time

import pytest
from browser_lab import LIMIT_S, begin_trial, measured, measured_load_begins, one_condition

from resolab.basics.records import DnsFailure, PageFailure
from resolab.trials.page_load.browser_setup import choose_way

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
BROWSERS = ("chromium", "firefox")
HOST = "example.resolab.test"


HELD_MS = 1_500.0
"""How long the edge keeps every answer of the page's name back: the load is under way for so long at least, however slow
the machine."""


async def killed_in(testbed, condition, pid_of):
    await testbed.edge.set_name_behaviour(HOST, delay_ms=HELD_MS)
    trial = await begin_trial(testbed, condition)
    await measured_load_begins(testbed)
    await asyncio.sleep(HELD_MS / 3 / 1000)
    os.kill(pid_of(), signal.SIGKILL)
    began = time.monotonic()
    result = await trial
    if testbed.edge.process.running:
        await testbed.edge.set_name_behaviour(HOST)
    # The page's limit, and what is done after it: asking whether the browser lives, and the link's summary.
    assert time.monotonic() - began < LIMIT_S + 10
    return result


async def scenario(browser):
    async with one_condition(browser, "stub") as (testbed, condition):
        pids = {
            "edge": lambda: testbed.edge.process.pid,
            "stub": lambda: testbed.between._standing.process.pid,
            "browser": lambda: testbed._browsers._browsers[choose_way(condition)].pid,
        }
        results = {}
        for part, pid_of in pids.items():
            results[part] = await killed_in(testbed, condition, pid_of)
            results[f"after the {part}"] = await testbed.run_trial(condition, "b000-t001")
        results["certificate"] = await with_another_authority(testbed, condition)
        results["after the certificate"] = await testbed.run_trial(condition, "b000-t001")
        return results


async def with_another_authority(testbed, condition):
    """A trial in which the edge's certificates are of an authority that the browser does not know."""
    known = testbed.lab._edge_config.read_text()
    for text, trial in ((known.replace('/ca"', '/other-ca"'), "b000-t002"), (known, None)):
        assert trial is None or text != known
        testbed.lab._edge_config.write_text(text)
        os.kill(testbed.edge.process.pid, signal.SIGKILL)
        while testbed.edge.process.running:
            await asyncio.sleep(0.01)
        if trial is not None:
            result = await testbed.run_trial(condition, trial)
    return result


async def side_by_side():
    """Both browsers' scenarios at once, each on a path of its own: they wait for limits, and nothing finer is timed."""
    found = await asyncio.gather(*map(scenario, BROWSERS), return_exceptions=True)
    return dict(zip(BROWSERS, found, strict=True))


@pytest.fixture(scope="module")
def of_browsers(privileged):
    return asyncio.run(side_by_side())


@pytest.fixture(scope="module", params=BROWSERS)
def results(request, of_browsers):
    found = of_browsers[request.param]
    if isinstance(found, BaseException):
        raise found
    return found


def test_without_the_edge_there_is_no_connection_and_the_trial_says_why(results):
    load = measured(results["edge"])
    assert load.failure is PageFailure.LAB_ENDED
    # What the browser made of it.
    assert load.failure_detail.partition(":")[0] in {"connect", "page_timeout", "dns"}
    assert "edge_ended" in results["edge"].flags
    assert results["edge"].failed


def test_without_the_stub_the_name_is_not_resolved_and_the_trial_says_why(results):
    load = measured(results["stub"])
    assert (load.failure, load.dns_failure) == (PageFailure.LAB_ENDED, DnsFailure.TRANSPORT)
    assert load.failure_detail.startswith("dns")
    assert "stub_ended" in results["stub"].flags


def test_a_killed_browser_is_a_crash(results):
    assert measured(results["browser"]).failure is PageFailure.BROWSER_CRASH
    assert not {"edge_ended", "stub_ended"} & set(results["browser"].flags)


def test_a_refused_certificate_over_quic_is_a_failure_of_tls(results):
    load = measured(results["certificate"])
    assert load.failure is PageFailure.TLS, load
    assert load.handshake_mode is None


@pytest.mark.parametrize("part", ["edge", "stub", "browser", "certificate"])
def test_the_next_load_is_good(results, part):
    after = results[f"after the {part}"]
    assert measured(after).failure is None
    assert set(after.flags) <= {"lateness_exceeded"}
