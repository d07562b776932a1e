"""Settings and requests a headless shell refuses."""

import asyncio

import pytest

from resolab.basics.errors import UnsupportedError
from resolab.browser import BrowserSettings, ClearedState, DohSettings, HeadlessShell, LoadRequest
from resolab.browser.chromium.headless_shell import check_settings
from resolab.browser.settings import H3Discovery, NameResolution

ASKS = {"resolvable_names": ("*.resolab.test",), "name_resolution": NameResolution.GETADDRINFO}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"doh": DohSettings(host="dns.resolab.test", address="10.77.0.1")}, "no DoH of its own"),
        ({"name_resolution": NameResolution.BUILT_IN}, "no resolver of its own"),
        ({"h3_discovery": H3Discovery.ALT_SVC}, "forgets Alt-Svc"),
    ],
)
def test_settings_impossible_in_a_headless_shell_are_refused(changes, reason):
    check_settings(BrowserSettings(**ASKS))
    with pytest.raises(UnsupportedError, match=reason):
        check_settings(BrowserSettings(**ASKS | changes))


def test_a_warm_up_of_which_something_stays_is_refused():
    request = LoadRequest(url="https://plain.resolab.test/", timeout_s=1, cleared=ClearedState())
    with pytest.raises(UnsupportedError, match="tickets included"):
        asyncio.run(HeadlessShell()._carry_out(request))
