"""Which browser writes which log for judging, and who reads it."""

from pathlib import Path

import pytest

from resolab.basics.records import BrowserKind
from resolab.browser import BrowserSettings, DohSettings
from resolab.browser.chromium.netlog import NetlogFollower
from resolab.browser.firefox.log import FirefoxLogFollower
from resolab.trials.live.client_side import log_settings

DOH = DohSettings(host="dns.example", address="192.0.2.53")


@pytest.mark.parametrize("doh", [None, DOH])
def test_chromium_always_writes_its_netlog(doh: DohSettings | None, tmp_path: Path) -> None:
    settings = BrowserSettings(resolvable_names=("*",), doh=doh)
    told, log = log_settings(BrowserKind.CHROMIUM, settings, tmp_path / "log")
    assert told.netlog_file == tmp_path / "log"
    assert isinstance(log, NetlogFollower)


def test_firefox_writes_a_log_for_its_own_doh_and_else_none(tmp_path: Path) -> None:
    without = BrowserSettings(resolvable_names=("*",))
    told, log = log_settings(BrowserKind.FIREFOX, without, tmp_path / "log")
    assert told is without
    log.mark()
    assert log.read() is None
    told, log = log_settings(BrowserKind.FIREFOX, BrowserSettings(resolvable_names=("*",), doh=DOH), tmp_path / "log")
    assert (told.netlog_file, told.netlog_for_judging) == (tmp_path / "log", True)
    assert isinstance(log, FirefoxLogFollower)
    (tmp_path / "log.moz_log").write_text("")
    found = log.read()
    assert found is not None
    assert (found.connections, found.look_ups) == ([], [])


@pytest.mark.parametrize("browser", BrowserKind)
def test_whoever_wants_no_log_gets_none(browser: BrowserKind, tmp_path: Path) -> None:
    settings = BrowserSettings(resolvable_names=("*",), doh=DOH)
    told, log = log_settings(browser, settings, tmp_path / "log", is_wanted=False)
    assert told is settings
    assert log.read() is None
