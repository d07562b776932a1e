"""What the end-to-end tests share: small plans, the command line, and a look at what is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFTOVERS = ("resolab-core", "chromium", "resolab-client", "resolab-server")
PLAN = """
name = "tiny"
question = "Does the whole line work?"
seed = 7
blocks = {blocks}
[factors]
page = {page}
profile = {profile}
dns_transport = {dns_transport}
http_version = ["h3"]
requested_handshake_mode = {mode}
[resolver_path]
doudp = "native"
doh = "native"
doq = "stub"
[baseline]
dns_transport = "doudp"
requested_handshake_mode = "full"
[limits]
page_timeout_s = 20
"""


def write_plan(
    folder, *, blocks=1, page=("example",), profile=("fiber",), dns_transport=("doudp",), mode=("full",), more=""
):
    file = folder / "tiny.toml"
    levels = {"page": page, "profile": profile, "dns_transport": dns_transport, "mode": mode}
    file.write_text(PLAN.format(blocks=blocks, **{key: str(list(value)) for key, value in levels.items()}) + more)
    return file


def resolab(*arguments, timeout_s=240, **options):
    return subprocess.run(
        [sys.executable, "-m", "resolab", *map(str, arguments)],
        capture_output=True, text=True, timeout=timeout_s, check=False, cwd=ROOT, **options,
    )  # fmt: skip


def processes_of_the_lab():
    """Command lines of running processes that only a run of resolab starts."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                name = (entry / "comm").read_text().strip()
            except OSError:
                continue
            if int(entry.name) != os.getpid() and any(word in line.split(" ")[0] or word == name for word in LEFTOVERS):
                found.append(f"{entry.name} {name} {line[:80]}")
    return found


def tun_devices():
    return [line for line in Path("/proc/net/dev").read_text().splitlines() if "tun" in line or "resolab" in line]


@pytest.fixture
def lab_is_clean():
    assert processes_of_the_lab() == []
    yield
    assert processes_of_the_lab() == []
    assert tun_devices() == []


@pytest.fixture(scope="session")
def privileged():
    ended = subprocess.run(
        [ROOT / "target/release/resolab-core", "path", "--profile", "ideal"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    if ended.returncode == 4:
        pytest.skip(f"NO EMULATED PATH ON THIS MACHINE: {ended.stderr.strip()}")
    assert ended.returncode == 0, ended.stderr
