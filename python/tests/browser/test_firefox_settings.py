"""Firefox's preferences, command line and profile; no browser needed."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from resolab.basics.errors import ConfigurationError, MachineError, UnsupportedError
from resolab.basics.records import HttpVersion
from resolab.browser import find_chromium, find_firefox
from resolab.browser.firefox.command import command_line, whole_command
from resolab.browser.firefox.preferences import preferences, user_js
from resolab.browser.firefox.profile import FirefoxHome
from resolab.browser.settings import BrowserSettings, DohMethod, DohSettings, H3Discovery, NameResolution

SETTINGS = BrowserSettings(resolvable_names=("*.resolab.test",), h3_hosts=("a.resolab.test", "b.resolab.test"))
DOH = DohSettings(host="dns.example", address="10.77.0.1")
DOH3 = DohSettings(host="dns.example", address="10.77.0.1", http_version=HttpVersion.H3)
RECORD, ALT_SVC = "network.dns.use_https_rr_as_altsvc", "network.http.altsvc.enabled"
RACE, MAPPING = "network.http.happy_eyeballs_enabled", "network.http.http3.alt-svc-mapping-for-testing"
H3, H2 = "network.http.http3.enable", "network.http.http2.enabled"


def of(**changes: Any) -> dict[str, bool | int | str]:
    return preferences(msgspec.structs.replace(SETTINGS, **changes))


def test_forced_h3_is_raced_against_nothing() -> None:
    values = of()
    assert values[RACE] is False
    assert values["network.dns.force_use_https_rr"] is True
    assert values[MAPPING] == "a.resolab.test;h3=:443,b.resolab.test;h3=:443"
    assert not {RECORD, ALT_SVC, H3, H2} & set(values)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"h3_discovery": H3Discovery.HTTPS_RECORD}, {ALT_SVC: False}),
        ({"h3_discovery": H3Discovery.HTTPS_RECORD, "doh": DOH3}, {ALT_SVC: True}),
        ({"h3_discovery": H3Discovery.ALT_SVC}, {RECORD: False}),
        ({"http_version": HttpVersion.H2}, {H3: False, H2: True, RECORD: False, ALT_SVC: False}),
        ({"http_version": HttpVersion.H2, "doh": DOH3}, {H3: True, H2: True, RECORD: False, ALT_SVC: True}),
        ({"http_version": HttpVersion.H1}, {H3: False, H2: False, RECORD: False, ALT_SVC: False}),
    ],
)
def test_a_browser_finds_h3_only_as_told(changes: dict[str, Any], expected: dict[str, bool]) -> None:
    values = of(**changes)
    assert {name: values[name] for name in (RECORD, ALT_SVC, H3, H2) if name in values} == expected
    assert not {RACE, MAPPING} & set(values)


def test_without_doh_the_c_library_is_asked_and_https_records_only_when_built_in() -> None:
    built_in, plain = of(), of(name_resolution=NameResolution.GETADDRINFO)
    assert built_in["network.trr.mode"] == plain["network.trr.mode"] == 5
    assert (built_in["network.dns.native_https_query"], plain["network.dns.native_https_query"]) == (True, False)


@pytest.mark.parametrize(("method", "by_get"), [(None, True), (DohMethod.GET, True), (DohMethod.POST, False)])
def test_doh_is_asked_alone_at_a_known_address(method: DohMethod | None, by_get: bool) -> None:
    values = of(doh=msgspec.structs.replace(DOH, method=method))
    assert values["network.trr.mode"] == 3
    assert values["network.trr.uri"] == values["network.trr.custom_uri"] == "https://dns.example/dns-query"
    assert values["network.trr.bootstrapAddr"] == "10.77.0.1"
    assert values["network.trr.useGET"] is by_get
    assert values["network.trr.force_http3_first"] is False
    assert of(doh=DOH3)["network.trr.force_http3_first"] is True


def test_nothing_is_resolved_or_connected_ahead_and_instants_are_not_rounded() -> None:
    values = of()
    assert values["network.dns.disablePrefetch"] is True
    assert values["network.http.speculative-parallel-limit"] == 0
    assert values["privacy.reduceTimerPrecision"] is values["privacy.reduceTimerPrecision.unconditional"] is False


def test_own_preferences_win() -> None:
    assert of(extra_preferences={"network.trr.mode": 2})["network.trr.mode"] == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"http_version": HttpVersion.H1, "doh": DOH}, "HTTP/2 off"),
        ({"doh": msgspec.structs.replace(DOH, http_version=HttpVersion.H1)}, "over HTTP/1.1"),
        ({"doh": DOH, "name_resolution": NameResolution.GETADDRINFO}, "leave one out"),
    ],
)
def test_what_firefox_cannot_be_set_to_is_said(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        of(**changes)


def test_the_file_holds_each_preference_as_javascript() -> None:
    lines = user_js({"b": True, "a": 'quo"te', "c": 7}).splitlines()
    assert lines == ['user_pref("a", "quo\\"te");', 'user_pref("b", true);', 'user_pref("c", 7);']


def test_the_command_line_has_its_environment_with_it_through_any_prefix() -> None:
    settings = msgspec.structs.replace(
        SETTINGS, netlog_file=Path("/log"), key_log_file=Path("/keys"), extra_flags=("--extra",)
    )
    browser = command_line(Path("/firefox"), settings, Path("/p"), Path("/t"))
    assert browser[0] == "env"
    assert {"TMPDIR=/t", "MOZ_LOG_FILE=/log", "SSLKEYLOGFILE=/keys", "MOZ_HEADLESS_WIDTH=1280"} <= set(browser)
    assert browser[browser.index("/firefox") :] == [
        "/firefox", "--headless", "--no-remote", "--profile", "/p", "--marionette", "--remote-allow-system-access",
        "--extra", "about:blank",
    ]  # fmt: skip
    assert not any(
        word.startswith(("MOZ_LOG", "SSLKEYLOGFILE"))
        for word in command_line(Path("/f"), SETTINGS, Path("/p"), Path("/t"))
    )
    whole = whole_command(["inside", "--"], browser)
    assert whole[-len(browser) :] == browser
    if shutil.which("setpriv"):
        # Tied outside the prefix and inside it.
        assert whole.count("setpriv") == 2
        assert whole.index("inside") > whole.index("setpriv")


@pytest.mark.parametrize(("version", "level"), [(HttpVersion.H2, 1), (HttpVersion.H3, 3)])
def test_a_log_for_judging_has_what_its_reader_needs_line_by_line(version: HttpVersion, level: int) -> None:
    doh = msgspec.structs.replace(DOH, http_version=version)
    settings = msgspec.structs.replace(SETTINGS, netlog_file=Path("/log"), netlog_for_judging=True, doh=doh)
    words = command_line(Path("/firefox"), settings, Path("/p"), Path("/t"))
    assert f"MOZ_LOG=sync,timestamp,nsHttp:{level},nsHostResolver:4,pipnss:4" in words


def test_the_profile_goes_away_with_what_the_browser_wrote(tmp_path: Path) -> None:
    home = FirefoxHome(msgspec.structs.replace(SETTINGS, scratch_folder=tmp_path, doh=DOH))
    written = (home.profile_folder / "user.js").read_text()
    values = dict(re.findall(r'user_pref\("([^"]+)", (.+)\);', written))
    assert json.loads(values["network.trr.mode"]) == 3
    assert home.temporary_folder.is_dir()
    home.remove()
    assert list(tmp_path.iterdir()) == []


def test_an_authority_that_cannot_be_read_is_a_configuration_error_and_leaves_nothing(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, scratch_folder=tmp_path, ca_file=tmp_path / "missing.pem")
    with pytest.raises(ConfigurationError, match="is no file"):
        FirefoxHome(settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("variable", "find"), [("RESOLAB_FIREFOX", find_firefox), ("RESOLAB_CHROMIUM", find_chromium)])
def test_a_browser_that_is_named_is_taken_or_missed(
    variable: str, find: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/bin/true")
    assert find() == Path("/bin/true")
    monkeypatch.setenv(variable, str(tmp_path / "nothing"))
    with pytest.raises(MachineError, match=variable):
        find()
