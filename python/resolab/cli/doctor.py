"""`resolab doctor`: print this machine's requirements for a run, present or missing, a line each.

For: finding a missing requirement before a run does. Not for: installing (in a checkout, `scripts/setup` does this
first).
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import BrowserKind, LiveWay
from resolab.browser.find import FIND, VERSION_OF
from resolab.extras.fleet import readiness
from resolab.lab.engine import find_core
from resolab.plan import Corpus
from resolab.trials.live.network_access import choose_access, read_facts

EXIT_LACKING = 4
NEEDED_FREE_BYTES = 1 << 30
LIVE, FLEET = "live page loads", "fleet"
NEEDED_BY = {"firefox": "plans that name it need", LIVE: "plans that name it need", FLEET: "`resolab fleet` needs"}
"""The optional requirements, with the only features needing each."""


def run(invitation: Path | None = None) -> int:
    """Check everything and print a line each; return 4 when a requirement is missing.

    With an invitation, also check the admission of this machine to its fleet.
    """
    lacking = 0
    for what, check in (CHECKS | _list_fleet_checks(invitation)).items():
        try:
            print(f"ok       {what}: {check()}")
        except ResolabError as error:
            if what in NEEDED_BY:
                print(f"absent   {what}, which only {NEEDED_BY[what]}: {error}")
                continue
            lacking += 1
            print(f"LACKING  {what}: {error}")
    return EXIT_LACKING if lacking else 0


def _list_fleet_checks(invitation: Path | None) -> dict[str, Callable[[], str]]:
    return {} if invitation is None else {f"invitation {invitation}": lambda: readiness.check_admission(invitation)}


def _core() -> str:
    version = subprocess.run([find_core(), "--version"], capture_output=True, text=True, timeout=10, check=False)
    return version.stdout.strip()


def _path() -> str:
    ended = subprocess.run(
        [find_core(), "path", "--profile", Corpus.from_project().profile_file("ideal")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False,
    )  # fmt: skip
    if ended.returncode != 0:
        raise MachineError(ended.stderr.strip().rpartition("\n")[2].removeprefix("resolab-core: "))
    rights = "as root" if os.geteuid() == 0 else "rootless"
    return f"namespaces and TUN work, {rights}"


def _browser(kind: BrowserKind) -> str:
    path = FIND[kind]()
    return f"{path}, {VERSION_OF[kind](path)}"


def _certutil() -> str:
    found = shutil.which("certutil")
    if found is None:
        raise MachineError("certutil is missing: apt-get install libnss3-tools")
    return found


def _live() -> str:
    facts = read_facts()
    choice = choose_access(facts)
    pings = "ICMP" if facts.echo else "TCP or QUIC (ICMP: sudo sysctl -w net.ipv4.ping_group_range='0 2147483647')"
    if choice.way is LiveWay.DNS_ONLY:
        raise MachineError(f"{choice.note}; {choice.missing}")
    better = f"; exact ones: {choice.missing}" if choice.missing else ""
    return f"{choice.note}{better}; pings by {pings}"


def _space() -> str:
    free = shutil.disk_usage(Path.cwd()).free
    if free < NEEDED_FREE_BYTES:
        raise MachineError(f"{free >> 20} MiB free here, a study needs about {NEEDED_FREE_BYTES >> 20}: make room")
    return f"{free >> 30} GiB free"


CHECKS: dict[str, Callable[[], str]] = {
    "resolab-core": _core,
    "emulated path": _path,
    "chromium": lambda: _browser(BrowserKind.CHROMIUM),
    "firefox": lambda: _browser(BrowserKind.FIREFOX),
    "certutil": _certutil,
    LIVE: _live,
    FLEET: readiness.find_packages,
    "disk": _space,
}
