"""What the end-to-end tests share: small plans, the command line, and a look at what is left behind."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from resolab.lab.engine import find_core

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "resolab")
SHORT_REPORTS = (sys.executable, Path(__file__).with_name("short_reports.py"))
"""The same command line for tests that are not about reports."""
CORES = ("resolab-core", "resolab-client", "resolab-server", "resolab-awake")
LEFTOVERS = (*CORES, "chromium", "slirp4netns")
OURS = f"RESOLAB_TESTS={os.environ.setdefault('RESOLAB_TESTS', str(os.getpid()))}".encode()
"""In the environment of whatever these tests start: somebody else on the machine may have a lab of his own."""
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


def resolab(*arguments, timeout_s=240, command=COMMAND, **options):
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True, text=True, timeout=timeout_s, check=False, cwd=ROOT, **options,
    )  # fmt: skip


def processes_of_the_lab():
    """Command lines of running processes that only a run of resolab starts, and that one of these tests did."""
    found = []
    core = os.path.realpath(find_core())
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                name = (entry / "comm").read_text().strip()
                executable = str((entry / "exe").readlink())
                zombie = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
                ours = _is_ours(entry)
            except OSError:
                continue
            of_the_lab = executable == core or any(word in line.split(" ")[0] or word == name for word in LEFTOVERS)
            # A dead process that nobody has reaped yet holds nothing any more.
            if of_the_lab and ours and not zombie and int(entry.name) != os.getpid():
                found.append(f"{entry.name} {name} {line[:80]}")
    return found


def _is_ours(entry):
    return OURS in (entry / "environ").read_bytes().split(b"\0")


def network_namespaces():
    """Network namespaces that some process of these tests is in."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if _is_ours(entry):
                    found.add((entry / "ns" / "net").readlink())
    return found


def finished(out):
    return sorted((out / "trials").glob("*.jsonl")) if (out / "trials").exists() else []


def wait_until(condition, timeout_s):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)
