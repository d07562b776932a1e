"""TCP's congestion control in both hosts of a path.

For: one setting for the whole life of a path, made before its first trial. Not for: the machine's own congestion
control (`store.manifest`), or QUIC.
"""

import asyncio
import subprocess
import sys
from enum import StrEnum

from resolab.basics.errors import MachineError
from resolab.lab import engine

SETTING_TIMEOUT_S = 20.0


class CongestionControl(StrEnum):
    """The congestion control of TCP in both hosts."""

    RENO = "reno"
    CUBIC = "cubic"
    BBR = "bbr"
    """Paces from the start; the closed form has no term for pacing."""


_WRITER = """
import ctypes, os, sys
process, name = sys.argv[1:]
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # CLONE_NEWUSER and CLONE_NEWNET of setns(2)
owners = {os.readlink(f"/proc/{one}/ns/user") for one in ("self", process)}
flags = NEW_NETWORK | (NEW_USER if len(owners) > 1 else 0)  # setns(2) refuses the namespace one is in
if ctypes.CDLL(None, use_errno=True).setns(os.pidfd_open(int(process)), flags):
    sys.exit(f"enter the host: {os.strerror(ctypes.get_errno())}")
try:
    with open("/proc/sys/net/ipv4/tcp_congestion_control", "w") as setting:
        setting.write(name)
except OSError as error:
    sys.exit(error.strerror)
"""
"""A program that enters the network of a process, and sets TCP's congestion control there.

An ordinary user's hosts belong to a user namespace. Rights in this namespace end when a program starts another program.
Therefore the program that enters also writes.
"""


async def set_congestion_control(path_pid: int, name: CongestionControl) -> None:
    """Set the congestion control of both hosts; the setting ends with the path."""
    for host in ("client", "server"):
        await asyncio.to_thread(_set_in_host, path_pid, host, name)


def _set_in_host(path_pid: int, host: str, name: CongestionControl) -> None:
    # Programs in a host lack the right to change the setting. The process of `enter` itself is in the host's network
    # and has the right, but runs no code of ours.
    inside = [*engine.enter_prefix(path_pid, host), "sh", "-c", "echo there; read -r _"]
    with subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as standing:
        assert standing.stdout is not None
        standing.stdout.readline()
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", _WRITER, str(standing.pid), name],
                text=True, capture_output=True, timeout=SETTING_TIMEOUT_S, check=False,
            )  # fmt: skip
        finally:
            standing.communicate("\n", SETTING_TIMEOUT_S)
    if done.returncode:
        raise MachineError(
            f"could not set TCP's congestion control to {name} in the {host} host: {done.stderr.strip()}; "
            f"run sudo modprobe tcp_{name}, and add {name} to net.ipv4.tcp_allowed_congestion_control"
        )
