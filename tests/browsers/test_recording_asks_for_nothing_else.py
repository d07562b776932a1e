"""A browser that may ask for any name asks for the page's alone: what else it would like to know stays unasked.

Judged by the only name server it can reach, from the browser's start until some seconds after the page is quiet.
"""

import pytest
from chromium_lab import PLAIN, browser_lab, play

from resolab.browser import Chromium, Firefox, ListeningRequest

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
QUIET_AFTER_S = 8
"""Chromium asks for its updates some seconds after its start, if it is let."""
LIMIT_S = 40


@pytest.fixture(scope="module")
def lab(tmp_path_factory, privileged):
    with browser_lab(tmp_path_factory.mktemp("alone")) as running:
        yield running


@pytest.mark.parametrize("make", [Chromium, Firefox], ids=["chromium", "firefox"])
def test_only_the_pages_name_is_asked(lab, make):
    lab.edge.records()

    async def scene(browser):
        return await browser.listen(
            ListeningRequest(url=f"https://{PLAIN}/", timeout_s=LIMIT_S, quiet_after_s=QUIET_AFTER_S)
        )

    heard = play(make, lab, scene, resolvable_names=("*",))
    assert (heard.failure, heard.failure_detail, heard.status) == (None, None, 200)
    names = {one["qname"].lower().rstrip(".") for one in lab.edge.records() if one["record"] == "edge_query"}
    assert names == {PLAIN}
