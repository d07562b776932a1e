"""Browsers give one error for every look-up that fails; the edge's records say which it was."""

import asyncio
from functools import partial

import pytest
from browser_lab import measured, one_condition

from resolab.basics.records import DnsFailure, FailureMode, PageFailure

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
HOST = "example.resolab.test"
MODES = {
    FailureMode.NXDOMAIN: DnsFailure.NXDOMAIN,
    FailureMode.SERVFAIL: DnsFailure.SERVFAIL,
    FailureMode.REFUSED: DnsFailure.REFUSED,
}


async def scenario(browser, folder):
    async with one_condition(browser, "native", folder / "screenshots") as (testbed, condition):
        results = {}
        for mode in MODES:
            testbed.before_measured = partial(testbed.edge.set_name_behaviour, HOST, failure=mode)
            results[mode] = await testbed.run_trial(condition, "b000-t000")
            await testbed.edge.set_name_behaviour(HOST)
        testbed.before_measured = None
        results["after"] = await testbed.run_trial(condition, "b000-t001")
        return results


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def results(request, privileged, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    return asyncio.run(scenario(request.param, folder)) | {"folder": folder}


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_look_up_is_told_by_the_edges_answer(results, mode):
    load = measured(results[mode])
    assert (load.failure, load.dns_failure, load.foreign_names) == (PageFailure.DNS, MODES[mode], [])


def test_a_picture_that_is_named_is_in_the_dataset(results):
    named = [measured(results[mode]).screenshot_file for mode in MODES]
    kept = {f"screenshots/{file.name}" for file in (results["folder"] / "screenshots").iterdir()}
    # A busy browser may not draw it in time; then none is named.
    assert set(named) - {None} == kept


def test_the_next_load_is_good(results):
    assert measured(results["after"]).failure is None
    assert measured(results["after"]).dns_failure is None
