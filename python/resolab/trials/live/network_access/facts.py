"""The machine's permissions for this user: facts, found by trying, for the choice of a method.

For: `read_facts`, the only part examining the machine, without sending packets to other hosts. Not for: judging
(`choice`).

Trying is more reliable than reading settings: five places of the kernel and two of its security modules decide about
namespaces.
"""

import enum
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from resolab.basics.installation import find_core

TRY_TIMEOUT_S = 10.0
TUN = Path("/dev/net/tun")
ADDRESSES_TRIED = 3
EXIT_CONFIGURATION, EXIT_MACHINE = 3, 4
"""The exit codes of resolab-core: the address is taken; this user may not listen."""
DOCUMENTATION_ADDRESS = "2001:db8::1"
"""An address of RFC 3849. Connecting a datagram socket to this address only looks up its route."""


class PortState(enum.Enum):
    """The state of port 53 on a loopback address for the stub."""

    FREE = "free"
    CLOSED = "closed"
    """This user may not listen on port 53."""
    TAKEN = "taken"
    """Another program listens on port 53 of every address."""


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts for the choice of a method."""

    is_root: bool
    core: str
    """The path of the resolab-core program."""
    own_view: bool
    """True when a program can be given its own resolv.conf."""
    own_view_refusal: str = ""
    """The refusal in resolab-core's words, one line; empty without a refusal."""
    port_53: PortState
    stub_address: str
    """A loopback address with a free port 53, otherwise the first address to try."""
    capabilities_void: bool = False
    """True when a capability on resolab-core's file would have no effect: a nosuid file system or no_new_privs."""
    namespace_setting: str | None = None
    """The setting (sysctl) forbidding user namespaces here, with the value allowing them: `NAME=VALUE`."""
    slirp4netns: bool
    """True when slirp4netns is installed."""
    tun: bool
    """True when this user may open `/dev/net/tun`."""
    ipv6: bool
    """True when there is a route to IPv6 addresses."""
    echo: bool
    """True when this user may send ICMP echo requests."""


def read_facts(core: Path | None = None) -> MachineFacts:
    """Try everything relevant for the choice, in some tens of milliseconds."""
    core = find_core() if core is None else core
    refusal = _try_own_view(core)
    port_53, stub_address = _try_port_53(core)
    return MachineFacts(
        is_root=os.geteuid() == 0,
        core=str(core),
        own_view=refusal is None,
        own_view_refusal=refusal or "",
        port_53=port_53,
        stub_address=stub_address,
        capabilities_void=_capabilities_void(core),
        namespace_setting=_namespace_setting(),
        slirp4netns=shutil.which("slirp4netns") is not None,
        tun=os.access(TUN, os.R_OK | os.W_OK),
        ipv6=_has_ipv6(),
        echo=_may_echo(),
    )


def list_stub_addresses(pid: int) -> Iterator[str]:
    """List loopback addresses for the stub of a process, distinct for concurrent campaigns.

    Never 127.0.0.53 and .54, used by systemd-resolved: the second number is 64 or above.
    """
    first = 64 + (pid >> 16) % 32
    for second in (first, first + 32, 64 + (first + 16) % 32):
        yield f"127.{second}.{pid >> 8 & 255}.{min(pid & 255, 254)}"


def _try_own_view(core: Path) -> str | None:
    """Run a program with its own resolv.conf; return the line of the refusal, `None` on success."""
    return _words(_run([core, "enter", "--here", "--nameserver", "127.0.0.1", "--", "true"]))


def _try_port_53(core: Path) -> tuple[PortState, str]:
    """Start a stub for a moment, ended by closing its standard input; an unasked stub sends no query."""
    addresses = list(list_stub_addresses(os.getpid()))
    state = PortState.TAKEN
    for address in addresses[:ADDRESSES_TRIED]:
        ended = _run([core, "stub", "--listen", f"{address}:53", "--upstream", "udp://127.0.0.1:9"])
        if ended.returncode == 0:
            return PortState.FREE, address
        if ended.returncode == EXIT_MACHINE:
            state = PortState.CLOSED
    return state, addresses[0]


def _run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TRY_TIMEOUT_S, check=False
    )


def _words(ended: subprocess.CompletedProcess[str]) -> str | None:
    if ended.returncode == 0:
        return None
    last = ended.stderr.strip().rpartition("\n")[2]
    return last.removeprefix("resolab-core: ") or f"exit code {ended.returncode}"


def _capabilities_void(core: Path) -> bool:
    if os.statvfs(core).f_flag & os.ST_NOSUID:
        return True
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return False
    return any(line.split() == ["NoNewPrivs:", "1"] for line in status.splitlines())


def _namespace_setting() -> str | None:
    """Return the setting forbidding user namespaces: Ubuntu's, Debian's old setting, or the general setting."""
    for name, forbids, allows in (
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("user.max_user_namespaces", "0", "15000"),
    ):
        try:
            value = Path("/proc/sys", *name.split(".")).read_text("ascii").strip()
        except OSError:
            continue
        if value == forbids:
            return f"{name}={allows}"
    return None


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect((DOCUMENTATION_ADDRESS, 53))
    except OSError:
        return False
    return True


def _may_echo() -> bool:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP).close()
        except OSError:
            continue
        return True
    return False
