"""Presets change what they say and nothing else."""

import asyncio
import mmap
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.records import HttpVersion
from resolab.browser import (
    BrowserSettings,
    Chromium,
    ClearedState,
    DohMethod,
    DohSettings,
    H3Discovery,
    LoadRequest,
    NameResolution,
    find_chromium,
)
from resolab.browser.chromium.flags import command_line
from resolab.browser.presets import find_presets, preset

sys.path.insert(0, str(Path(__file__).parent))
from page_server import PageServer

DOCUMENT = Path(__file__).parents[3] / "docs" / "method" / "browser-presets.md"
PLAIN = BrowserSettings(resolvable_names=("*.resolab.test", "127.0.0.1"), h3_hosts=("a.resolab.test",))
WITH_DOH = BrowserSettings(
    resolvable_names=("*.resolab.test",), doh=DohSettings(host="dns.resolab.test", address="10.77.0.1")
)
ADDRESSES = {"a.resolab.test": "10.77.1.1", "b.resolab.test": "10.77.1.2"}


def test_firefox_of_the_www_2020_study_over_do53() -> None:
    settings = preset("h20").apply(PLAIN)
    assert (settings.http_version, settings.h3_hosts) == (HttpVersion.H2, ())
    assert settings.name_resolution is NameResolution.GETADDRINFO
    assert settings.doh is None
    assert settings.extra_preferences["network.dns.disablePrefetch"] is False
    assert settings.extra_flags == ()
    assert settings.resolvable_names == PLAIN.resolvable_names


def test_firefox_of_the_www_2020_study_over_doh() -> None:
    settings = preset("h20").apply(WITH_DOH)
    assert settings.doh is not None
    assert (settings.doh.method, settings.doh.host) == (DohMethod.POST, "dns.resolab.test")
    assert settings.name_resolution is NameResolution.BUILT_IN
    limits = ("network.trr.request_timeout_ms", "network.trr.request_timeout_mode_trronly_ms")
    assert [settings.extra_preferences[name] for name in limits] == [1500, 1500]


def test_without_its_faults_a_preset_keeps_the_rest() -> None:
    h20 = preset("h20")
    assert h20.faults == ("trr_request_timeout", "speculation")
    settings = h20.apply(WITH_DOH, without=h20.faults)
    assert set(settings.extra_preferences) == {
        "network.dns.use_https_rr_as_altsvc",
        "network.dns.upgrade_with_https_rr",
        "network.trr.max-fails",
        "network.dns.disableIPv6",
    }


@pytest.mark.parametrize("name", find_presets())
def test_each_setting_can_be_left_out_alone_and_all_together(name: str) -> None:
    chosen = preset(name)
    whole = chosen.apply(WITH_DOH, addresses=ADDRESSES)
    for setting in chosen.settings:
        alone = setting.change(WITH_DOH, ADDRESSES)
        if setting.name not in {"system_resolver", "forced_h3"}:  # The first is for Do53, the second our own default.
            assert alone != WITH_DOH, setting.name
            assert chosen.apply(WITH_DOH, without={setting.name}, addresses=ADDRESSES) != whole, setting.name
    assert chosen.apply(WITH_DOH, without={setting.name for setting in chosen.settings}) == WITH_DOH


def test_what_was_added_before_stays() -> None:
    before = BrowserSettings(resolvable_names=(), extra_flags=("--x",), extra_preferences={"a": 1})
    settings = preset("h20").apply(before)
    assert settings.extra_flags == ("--x",)
    assert settings.extra_preferences["a"] == 1
    assert preset("s24").apply(before, without=["lookup_outside"]).extra_flags[0] == "--x"
    assert before.extra_preferences == {"a": 1}


def test_chromium_of_the_tnsm_2024_study_is_told_the_addresses() -> None:
    settings = preset("s24").apply(PLAIN, addresses=ADDRESSES)
    assert (settings.http_version, settings.h3_discovery) == (HttpVersion.H3, H3Discovery.FORCED)
    flags = command_line(Path("chromium"), settings, Path("/profile"))
    assert "--window-size=800,600" in flags
    rules = [flag for flag in flags if flag.startswith("--host-resolver-rules=")][-1]
    # A name that is excluded would not be mapped: the wildcard had to go.
    assert rules == (
        "--host-resolver-rules=MAP a.resolab.test 10.77.1.1 , MAP b.resolab.test 10.77.1.2 , MAP * ~NOTFOUND , "
        "EXCLUDE 127.0.0.1 , EXCLUDE 10.77.1.1 , EXCLUDE 10.77.1.2"
    )


def test_errors_name_what_would_help() -> None:
    with pytest.raises(ConfigurationError, match="unknown browser preset 'h21'; known: h20, s24"):
        preset("h21")
    with pytest.raises(ConfigurationError, match="no setting 'cache'; it has: http2, system_resolver"):
        preset("h20").apply(PLAIN, without=["cache"])
    with pytest.raises(ConfigurationError, match="leave lookup_outside out"):
        preset("s24").apply(PLAIN)


@pytest.mark.parametrize(("name", "timeout_s"), [("h20", 30.0), ("s24", 15.0)])
def test_loads_have_the_studies_limits_and_are_warmed_up_only_for_a_ticket(name: str, timeout_s: float) -> None:
    request = LoadRequest(url="https://a.resolab.test/", timeout_s=60, cleared=ClearedState(http_cache=False))
    full = preset(name).apply_to_load(request, ticket_needed=False)
    assert (full.timeout_s, full.warmup, full.cleared) == (timeout_s, False, ClearedState(http_cache=False))
    assert preset(name).apply_to_load(request, ticket_needed=True).warmup


def test_the_document_lists_every_setting_with_its_source_and_its_fault() -> None:
    text = " ".join(DOCUMENT.read_text().split())
    for chosen in find_presets().values():
        for setting in chosen.settings:
            row = f"| `{setting.name}` | {setting.does} | {setting.source} | {setting.wrong or ''}"
            assert " ".join(row.split()) in text, setting.name
        for line in chosen.not_reproduced:
            assert line in text


def stock_chromium() -> Path:
    try:
        return find_chromium()
    except MachineError as error:
        pytest.skip(f"REAL BROWSER NOT TESTED: {error}")


@pytest.mark.browser
def test_a_real_chromium_looks_nothing_up_when_it_is_told_the_addresses() -> None:
    stock_chromium()
    server = PageServer()
    try:
        asyncio.run(_told_and_not_told(server))
    finally:
        server.close()


async def _told_and_not_told(server: PageServer) -> None:
    host = "page.invalid"  # No resolver knows it (RFC 6761, section 6.4).
    plain = BrowserSettings(resolvable_names=("*.invalid",))
    told = preset("s24").apply(plain, addresses={host: "127.0.0.1"})
    url = f"http://{host}:{server.url.rpartition(':')[2]}/"
    outcomes = []
    for settings in (told, plain):
        chromium = Chromium()
        try:
            async with asyncio.timeout(60):
                await chromium.start([], settings)
                result = await chromium.load(LoadRequest(url=url, timeout_s=20, warmup=False))
                outcomes.append(result.failure and result.failure.value)
        finally:
            await chromium.close()
    assert outcomes == [None, "dns"]
    assert server.asked == ["/", "/pixel.svg"]


@pytest.mark.browser
def test_the_stock_chromium_still_has_the_flags() -> None:
    flags = preset("s24").apply(PLAIN, addresses=ADDRESSES).extra_flags
    with stock_chromium().open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as binary:
        names = [flag.removeprefix("--").partition("=")[0] for flag in flags]
        assert names
        assert [name for name in names if binary.find(name.encode() + b"\0") < 0] == []


@pytest.mark.browser
def test_the_stock_firefox_still_has_the_preferences() -> None:
    found = shutil.which("firefox-esr")
    if found is None:
        pytest.skip("REAL BROWSER NOT TESTED: there is no firefox-esr")
    home = Path(found).resolve().parent
    if not (home / "libxul.so").is_file():
        home = Path("/usr/lib/firefox-esr")
    with zipfile.ZipFile(home / "omni.ja") as archive:
        defaults = archive.read("greprefs.js")
    with (home / "libxul.so").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
        names = [name.encode() for name in preset("h20").apply(PLAIN).extra_preferences]
        assert len(names) > 5
        assert [name for name in names if name not in defaults and library.find(name) < 0] == []
