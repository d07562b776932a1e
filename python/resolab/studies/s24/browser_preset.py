"""Chromium with the settings of Sengupta et al. (IEEE TNSM 2024).

For: data. "code": justus237/DoQ-H3-measurement, chromium_measurement.py.
"""

from fnmatch import fnmatchcase

from msgspec.structs import replace

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import HttpVersion
from resolab.browser.presets.shape import Addresses, Preset, Setting, flags
from resolab.browser.settings import BrowserSettings, H3Discovery


def _force_h3(settings: BrowserSettings, _addresses: Addresses) -> BrowserSettings:
    return replace(settings, http_version=HttpVersion.H3, h3_discovery=H3Discovery.FORCED)


def _map_addresses(settings: BrowserSettings, addresses: Addresses) -> BrowserSettings:
    """Map the pages' hosts to their addresses.

    Chromium takes the last such flag, and sends no query for mapped names.
    """
    if not addresses:
        problem = "it needs the pages' addresses; give them, or leave lookup_outside out"
        raise ConfigurationError(f"browser preset s24 cannot tell the browser where pages are: {problem}")
    mapped = [f"MAP {host} {address}" for host, address in addresses.items()]
    # What is excluded is not mapped.
    other = [name for name in settings.resolvable_names if not any(fnmatchcase(host, name) for host in addresses)]
    excluded = [f"EXCLUDE {name}" for name in (*other, *addresses.values())]
    rules = " , ".join([*mapped, "MAP * ~NOTFOUND", *excluded])
    return flags(f"--host-resolver-rules={rules}")(settings, addresses)


def _window(settings: BrowserSettings, _addresses: Addresses) -> BrowserSettings:
    return replace(settings, window_width_px=800, window_height_px=600)


PRESET = Preset(
    name="s24",
    citation="Sengupta et al., IEEE TNSM 2024",
    browser="chromium",
    timeout_s=15.0,
    settings=(
        Setting("forced_h3", "pages over HTTP/3 from the first request on, by flag", "paper III; code", _force_h3),
        Setting(
            "lookup_outside",
            "the browser is told the page's address and looks nothing up",
            "paper III, IV-C; code",
            _map_addresses,
            wrong="the load has no look-up in it: they added one measured before it, so that neither waits for the "
            "other and one load was used with three look-ups; that sum is our `plt_sum`, never `plt`",
        ),
        Setting(
            "window",
            "the window of headless Chromium's default then, 800 x 600 px",
            "code sets none; paper IV-D: images of the instagram page were not rendered for want of room",
            _window,
            wrong="on a screen of usual size the page fetches more",
        ),
        Setting(
            "autoplay",
            "videos may start by themselves",
            "code",
            flags("--autoplay-policy=no-user-gesture-required"),
        ),
        Setting("no_dev_shm", "shared memory in files, as in containers", "code", flags("--disable-dev-shm-usage")),
    ),
    not_reproduced=(
        "Chromium 102 patched to save its TLS sessions, a process for each load: here a warm-up leaves the tickets",
        "`--disable-http-cache`, which Chromium no longer has: here the cache is cleared before the measured load",
        "`--dns-prefetch-disable`, likewise: here prediction is off in the profile of every load",
        "0-RTT always measured after 1-RTT: here blocks have a random order",
        "a certificate accepted for its key, unchecked: here it is checked against the lab's authority",
        "Selenium, and 2 s of waiting after each load before timings were read: it does not touch loadEventStart",
    ),
)
