"""The server's host, prepared for software of other makers: addresses, an ordinary user, and free ports.

For: commands inside the host before a start and after an end. Not for: the software itself (`process`).

Some servers set SO_REUSEPORT. A second server then starts on taken ports without an error and shares the queries with
the first. So nothing may be bound to an address before a start, and nothing may be left after an end.
"""

import asyncio
import ipaddress
import os
import pwd
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.lab import engine

USER = "nobody"
PORTS = (53, 443, 853)
"""The ports of Do53; of DoH, DoH3 and pages; of DoT and DoQ."""
FREE_TIMEOUT_S = 3.0
_LOOK_EVERY_S = 0.05
_TABLES = ("tcp", "tcp6", "udp", "udp6")
_LISTENING, _BOUND = "0A", "07"
"""The states of a listening TCP socket and of a UDP socket (proc(5), /proc/net/tcp)."""
_WITHOUT_RIGHTS = ("--no-new-privs", "--inh-caps=-all", "--bounding-set=-all")
_ENDED_WITH_PARENT = ("--pdeathsig", "KILL")
"""The change of the user clears the signal set by `enter`, the only sure end without a process namespace."""


@dataclass(frozen=True, slots=True)
class ServerHost:
    """The host of the edge, entered by the path's process id."""

    path_pid: int
    rootless: bool
    """True when the path itself runs as an ordinary user; there is then no other user to change to."""

    @property
    def prefix(self) -> list[str]:
        """Return the prefix of a command in this host."""
        return engine.enter_prefix(self.path_pid, "server")

    def run_as_user(self, command: Sequence[str]) -> list[str]:
        """Return a command for the host, as an ordinary user without capabilities."""
        user = [] if self.rootless else list_user_options()
        return [*self.prefix, "setpriv", *user, *_WITHOUT_RIGHTS, *_ENDED_WITH_PARENT, "--", *command]

    def give_to_user(self, folder: Path) -> None:
        """Make a folder with its files the ordinary user's."""
        if self.rootless or os.geteuid() != 0:
            return
        user = find_user()
        for one in (folder, *folder.iterdir()):
            os.chown(one, user.pw_uid, user.pw_gid)

    async def add_address(self, address: str) -> None:
        """Give the host an address: some servers bind only addresses of an interface."""
        await self._run("ip", "address", "replace", f"{address}/32", "dev", "lo")

    async def wait_until_free(self, address: str, name: str) -> None:
        """Wait until no socket is bound to an address, or to every address at a port of servers."""
        deadline = time.monotonic() + FREE_TIMEOUT_S
        while taken := await self._find_taken(address):
            if time.monotonic() > deadline:
                places = ", ".join(taken)
                problem = f"could not start software {name}: {places} of the server's host is taken by another program"
                raise MachineError(f"{problem}; let every program of the plan bind to @ADDRESS@ alone")
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _find_taken(self, address: str) -> list[str]:
        text = await self._run("cat", *(f"/proc/self/net/{table}" for table in _TABLES))
        return list(dict.fromkeys(list_bound(text, address)))

    async def _run(self, *command: str) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.prefix, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
        except OSError as error:
            raise MachineError(f"could not run {command[0]} in the server's host: {error.strerror}") from error
        told, said = await process.communicate()
        if process.returncode != 0:
            last = said.decode(errors="replace").strip().splitlines()[-1:]
            raise MachineError(f"{command[0]} failed in the server's host: {' '.join(last) or 'it said nothing'}")
        return told.decode(errors="replace")


def find_user() -> pwd.struct_passwd:
    """Find the ordinary user: the name of the user's group differs among distributions."""
    try:
        return pwd.getpwnam(USER)
    except KeyError as error:
        problem = f"could not run software as user {USER}: this machine has no such user"
        raise MachineError(f"{problem}; add the user with useradd") from error


def list_user_options() -> list[str]:
    """List the options of setpriv for the ordinary user with the user's own group alone."""
    user = find_user()
    return [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def list_bound(text: str, address: str) -> Iterator[str]:
    """Yield the places at an address with a server's socket, e.g. `10.77.255.1:853`, from /proc/net's tables. Pure.

    A socket of every address counts at the ports of servers.
    """
    for line in text.splitlines():
        words = line.split()
        if len(words) < 4 or words[3] not in (_LISTENING, _BOUND):
            continue
        host, _, port = words[1].partition(":")
        bound = _read_address(host)
        if bound is None:
            continue
        number = int(port, 16)
        if str(bound) == address or (bound.is_unspecified and number in PORTS):
            yield f"{bound}:{number}"


def _read_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an address of /proc/net: words of four bytes, the lowest byte first."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return None
    ordered = b"".join(raw[start : start + 4][::-1] for start in range(0, len(raw), 4))
    return ipaddress.ip_address(ordered) if len(ordered) in (4, 16) else None
