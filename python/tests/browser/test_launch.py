"""Flags, profile and the process behind a prefix; no browser needed."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from resolab.basics.errors import ConfigurationError, MachineError, UnsupportedError
from resolab.basics.records import HttpVersion
from resolab.browser.chromium.flags import command_line
from resolab.browser.chromium.profile import ChromiumHome
from resolab.browser.locked_folder import NAME
from resolab.browser.process import BrowserProcess, build_piped_command
from resolab.browser.settings import BrowserSettings, DohMethod, DohSettings, H3Discovery, NameResolution

SETTINGS = BrowserSettings(
    resolvable_names=("*.resolab.test",),
    h3_hosts=("a.resolab.test", "b.resolab.test"),
    doh=DohSettings(host="dns.example", address="10.77.0.1"),
)


def flag(flags: list[str], name: str) -> str:
    (found,) = [f.partition("=")[2] for f in flags if f.startswith(f"--{name}=")]
    return found


def test_every_name_but_the_labs_fails_unasked() -> None:
    flags = command_line(Path("/chromium"), SETTINGS, Path("/p"))
    assert flag(flags, "host-resolver-rules") == "MAP * ~NOTFOUND , EXCLUDE *.resolab.test , EXCLUDE dns.example"
    assert flag(flags, "origin-to-force-quic-on") == "a.resolab.test:443,b.resolab.test:443"
    assert flag(flags, "user-data-dir") == "/p"
    assert "--remote-debugging-pipe" in flags
    assert not any("ignore-certificate" in f for f in flags)
    assert flags[-1] == "about:blank"


def test_logs_are_written_where_they_are_asked_for_and_only_there() -> None:
    asked = msgspec.structs.replace(SETTINGS, netlog_file=Path("/log.json"), key_log_file=Path("/keys"))
    flags = command_line(Path("/chromium"), asked, Path("/p"))
    assert (flag(flags, "log-net-log"), flag(flags, "ssl-key-log-file")) == ("/log.json", "/keys")
    assert not any("log" in word for word in command_line(Path("/chromium"), SETTINGS, Path("/p")))


H2 = {"http_version": HttpVersion.H2}
DOH3 = DohSettings(host="dns.example", address="10.77.0.1", http_version=HttpVersion.H3)


@pytest.mark.parametrize(
    ("changes", "forced", "others"),
    [
        ({"h3_discovery": H3Discovery.ALT_SVC}, "a.resolab.test:1,b.resolab.test:1", set()),
        ({"h3_discovery": H3Discovery.HTTPS_RECORD, "doh": DOH3}, "a.resolab.test:1,b.resolab.test:1,dns.example:443", set()),
        (H2, None, {"--disable-quic"}),
        (H2 | {"doh": DOH3}, "dns.example:443", set()),
        ({"http_version": HttpVersion.H1, "doh": None}, None, {"--disable-quic", "--disable-http2"}),
    ],
)  # fmt: skip
def test_quic_is_forced_or_only_trusted_or_off(changes: dict[str, Any], forced: str | None, others: set[str]) -> None:
    flags = command_line(Path("/chromium"), msgspec.structs.replace(SETTINGS, **changes), Path("/p"))
    assert [flag(flags, "origin-to-force-quic-on")] == [forced] if forced else True
    assert set(flags) & {"--disable-quic", "--disable-http2"} == others
    assert any("force-quic" in f for f in flags) is (forced is not None)


def test_h1_pages_beside_doh_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="HTTP/2 off"):
        command_line(Path("/c"), msgspec.structs.replace(SETTINGS, http_version=HttpVersion.H1), Path("/p"))


def test_the_c_library_resolves_when_the_built_in_resolver_is_off() -> None:
    settings = msgspec.structs.replace(SETTINGS, name_resolution=NameResolution.GETADDRINFO)
    assert "AsyncDns" in flag(command_line(Path("/c"), settings, Path("/p")), "disable-features").split(",")


def test_a_browser_that_may_ask_for_any_name_sends_its_own_requests_nowhere() -> None:
    asked = msgspec.structs.replace(SETTINGS, resolvable_names=("*",))
    assert flag(command_line(Path("/c"), asked, Path("/p")), "proxy-server") == "http://127.0.0.1:1"
    assert not any("proxy" in word for word in command_line(Path("/c"), SETTINGS, Path("/p")))


def test_the_sandbox_is_off_unless_asked_for() -> None:
    asked = msgspec.structs.replace(SETTINGS, own_sandbox=True)
    assert "--no-sandbox" in command_line(Path("/c"), SETTINGS, Path("/p"))
    assert "--no-sandbox" not in command_line(Path("/c"), asked, Path("/p"))


def test_doh_goes_by_get_when_told() -> None:
    assert SETTINGS.doh is not None
    doh = msgspec.structs.replace(SETTINGS.doh, method=DohMethod.GET)
    home = ChromiumHome(msgspec.structs.replace(SETTINGS, doh=doh))
    state = json.loads((home.profile_folder / "Local State").read_text())
    home.remove()
    assert state["dns_over_https"]["templates"] == "https://dns.example/dns-query{?dns}"


def test_the_profile_turns_prediction_off_and_doh_on_and_goes_away() -> None:
    home = ChromiumHome(SETTINGS)
    preferences = json.loads((home.profile_folder / "Default" / "Preferences").read_text())
    state = json.loads((home.profile_folder / "Local State").read_text())
    assert preferences["net"]["network_prediction_options"] == 2
    assert preferences["alternate_error_pages"]["enabled"] is False
    assert state == {"dns_over_https": {"mode": "secure", "templates": "https://dns.example/dns-query"}}
    home.remove()
    assert not home.folder.exists()


def test_without_doh_the_browser_is_left_to_the_hosts_nameserver() -> None:
    home = ChromiumHome(BrowserSettings(resolvable_names=()))
    assert not (home.profile_folder / "Local State").exists()
    home.remove()


def test_a_name_server_that_may_be_anybodys_is_asked_over_nothing_else() -> None:
    home = ChromiumHome(BrowserSettings(resolvable_names=("*",)))
    assert '"mode":"off"' in (home.profile_folder / "Local State").read_text()
    home.remove()


def test_an_authority_that_cannot_be_read_is_a_configuration_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ConfigurationError, match="is no file"):
        ChromiumHome(BrowserSettings(resolvable_names=(), ca_file=tmp_path / "missing.pem"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("certutil") is None, reason="certutil (libnss3-tools) is not installed")
def test_an_authority_that_is_no_certificate_is_a_configuration_error(tmp_path: Path) -> None:
    broken = tmp_path / "ca.pem"
    broken.write_text("no certificate")
    with pytest.raises(ConfigurationError, match="certutil said"):
        ChromiumHome(BrowserSettings(resolvable_names=(), ca_file=broken))


def test_a_program_that_is_missing_is_said(tmp_path: Path) -> None:
    async def play() -> None:
        await BrowserProcess.start(["/nonexistent/prefix"], tmp_path)

    with pytest.raises(MachineError, match="/nonexistent/prefix"):
        asyncio.run(play())


ECHO = (
    "import os; os.write(4, os.read(3, 100).upper()); os.write(1, os.environ['HOME'].encode() + b'\\n'); os.read(3, 1)"
)


def test_the_pipe_reaches_descriptors_3_and_4_through_a_prefix(tmp_path: Path) -> None:
    async def play() -> None:
        command = build_piped_command(["env", "-u", "NOTHING"], [sys.executable, "-c", ECHO])
        process = await BrowserProcess.start(command, tmp_path)
        reader, writer = process.streams
        writer.write(b"over the pipe")
        async with asyncio.timeout(10):
            assert await reader.read(100) == b"OVER THE PIPE"
            writer.close()
            await process.end(timeout_s=5)
        assert process.last_words() == str(tmp_path)
        assert not process.running

    asyncio.run(play())


def test_a_line_without_end_on_standard_error_does_not_stop_the_browser(tmp_path: Path) -> None:
    talks = "import sys; sys.stderr.write('x' * 200_000 + '\\n' + 'y\\n' * 500_000 + 'last\\n')"

    async def play() -> None:
        process = await BrowserProcess.start(build_piped_command([], [sys.executable, "-c", talks]), tmp_path)
        async with asyncio.timeout(20):
            await process.wait_for_end()
            while process.last_words() != "last":
                await asyncio.sleep(0.01)
        await process.end(timeout_s=1)

    asyncio.run(play())


def test_a_program_that_ignores_the_end_is_killed_with_its_children(tmp_path: Path) -> None:
    stubborn = "trap '' TERM HUP INT; sleep 600 & echo $! >&4; while :; do sleep 600; done"

    async def play() -> int:
        process = await BrowserProcess.start(build_piped_command([], ["/bin/sh", "-c", stubborn]), tmp_path)
        child = int((await process.streams[0].readline()).decode())
        os.kill(child, 0)
        await process.end(timeout_s=0.1)
        return child

    child = asyncio.run(play())
    # The signal is on its way when the process it was sent to has not yet run again.
    for _ in range(100):
        if _is_gone(child):
            break
        time.sleep(0.05)
    assert _is_gone(child)


def test_what_a_browser_leaves_running_is_killed_when_its_end_is_noticed(tmp_path: Path) -> None:
    async def play() -> int:
        process = await BrowserProcess.start(
            build_piped_command([], ["/bin/sh", "-c", "sleep 600 & echo $! >&4"]), tmp_path
        )
        child = int((await process.streams[0].readline()).decode())
        for _ in range(200):
            if _is_gone(child):
                break
            await asyncio.sleep(0.05)
        await process.end(timeout_s=5)
        return child

    assert _is_gone(asyncio.run(play()))


def test_a_group_whose_first_process_ended_long_ago_is_left_alone(tmp_path: Path, monkeypatch: Any) -> None:
    """Its number may be another group's by now, and as root any group can be killed."""
    killed: list[int] = []

    async def play() -> None:
        process = await BrowserProcess.start(build_piped_command([], ["/bin/true"]), tmp_path)
        await process.wait_for_end()
        await asyncio.sleep(0.2)
        monkeypatch.setattr(os, "killpg", lambda group, _signal: killed.append(group))
        await process.end(timeout_s=5)

    asyncio.run(play())
    assert killed == []


def test_browsers_log_no_keys_and_keep_their_temporary_files_where_they_are_told(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))

    async def play() -> str:
        command = build_piped_command([], ["/bin/sh", "-c", 'echo "keys=$SSLKEYLOGFILE tmp=$TMPDIR" >&4'])
        process = await BrowserProcess.start(command, tmp_path, tmp_path / "tmp")
        said = (await process.streams[0].readline()).decode().strip()
        await process.end(timeout_s=5)
        return said

    assert asyncio.run(play()) == f"keys= tmp={tmp_path / 'tmp'}"


@pytest.mark.parametrize("depth", [0, 8])
def test_temporary_files_have_a_short_way_and_go_with_the_home(tmp_path: Path, monkeypatch: Any, depth: int) -> None:
    system = Path(tempfile.mkdtemp(prefix="t-", dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    scratch = system.joinpath(*["long-name"] * depth)
    scratch.mkdir(parents=True, exist_ok=True)
    home = ChromiumHome(BrowserSettings(resolvable_names=(), scratch_folder=scratch))
    assert home.temporary_folder.is_dir()
    # As long as a socket's path may be (unix(7)), with what Chromium puts behind.
    assert len(str(home.temporary_folder / "org.chromium.Chromium.XXXXXX" / "SingletonSocket")) < 108
    assert home.temporary_folder.is_relative_to(home.folder) or NAME.fullmatch(home.temporary_folder.name)
    home.remove()
    assert not [one for one in system.rglob("*") if one.name != "long-name"]
    shutil.rmtree(system)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return True
