"""The network access of a live bed: command prefixes for the bed's programs, and the relay during the bed's lifetime.

For: `open_access`, the whole interface for a bed. Not for: the choice (`choice`), or the measured pages and
resolvers.
"""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from resolab.basics.records import LiveWay, RelayReadyRecord
from resolab.lab.engine import enter_prefix
from resolab.lab.engine.relay import Relay
from resolab.trials.live.network_access.choice import AccessChoice, choose_access
from resolab.trials.live.network_access.facts import MachineFacts, read_facts
from resolab.trials.live.network_access.resolv_conf import SystemResolver, read_system_resolver


@dataclass(frozen=True, slots=True)
class NetworkAccess:
    """The location and method of running browsers, stub and client."""

    facts: MachineFacts
    choice: AccessChoice
    system: SystemResolver
    relay: RelayReadyRecord | None = None
    """The relay, while access is set up with the method `slirp4netns`."""

    @property
    def way(self) -> LiveWay:
        """Return the chosen method."""
        return self.choice.way

    @property
    def note(self) -> str:
        """Return the method and its cost, in one sentence."""
        return self.choice.note

    @property
    def missing(self) -> str | None:
        """Return the obstacle to a better method, with the command to remove the obstacle."""
        return self.choice.missing

    @property
    def stub_address(self) -> str:
        """Return the stub's listening address, for port 53."""
        return self.facts.stub_address

    listen_address = stub_address

    @property
    def own_sandbox(self) -> bool:
        """Return True when Chromium can sandbox its page processes: for any user but root."""
        return not self.facts.is_root

    @property
    def own_names(self) -> str:
        """Return the first line of a hosts file: Firefox looks up this machine's name, and waits for the answer."""
        return f"127.0.0.1 localhost {socket.gethostname()}"

    @property
    def system_nameserver(self) -> str | None:
        """Return the first name server of `/etc/resolv.conf`."""
        return self.system.address

    @property
    def forwards_to(self) -> tuple[str, ...]:
        """Return the upstream resolvers of this name server, when published by a forwarder on this machine."""
        return self.system.forwards_to

    def browser_prefix(self, nameserver: str, *, hosts_file: Path | None = None) -> list[str]:
        """Return the prefix of a browser's command; the browser then uses only this name server, when supported."""
        if self.way is LiveWay.SLIRP4NETNS:
            if self.relay is None:
                raise AssertionError("this way needs a relay: use open_access()")
            return enter_prefix(self.relay.pid, self.relay.host, nameserver=nameserver, hosts_file=hosts_file)
        if not self.facts.own_view:
            return []
        hosts = [] if hosts_file is None else ["--hosts", str(hosts_file)]
        address = str(ipaddress.ip_address(nameserver))
        return [self.facts.core, "enter", "--here", "--nameserver", address, *hosts, "--"]

    def stub_prefix(self) -> list[str]:
        """Return the prefix of the stub's command: empty, as its connections leave from the machine's own network."""
        return []

    def stub_arguments(self) -> list[str]:
        """Return the stub's arguments beside `--listen`: with slirp4netns, the host of the listening sockets."""
        return [] if self.relay is None else ["--listen-in", f"{self.relay.pid}/{self.relay.host}"]

    def refusal(self, *, by_stub: bool, speaks_doh: bool, nameserver: str | None = None) -> str | None:
        """Return the reason against page loads by the stub, the browser's own DoH or resolv.conf; `None` when possible.

        `nameserver` is the name server for resolv.conf.
        """
        if speaks_doh:
            return None
        if self.way is LiveWay.DNS_ONLY and (by_stub or not self.facts.own_view):
            how = "through the stub" if by_stub else "by a resolv.conf of the browser's own"
            return f"pages cannot be loaded {how} on this machine: {self.missing}"
        if self.way is LiveWay.SLIRP4NETNS and not by_stub and nameserver and _is_loopback(nameserver):
            return f"behind slirp4netns a browser cannot ask {nameserver}, its own loopback there: ask by the stub"
        return None


def build_access(facts: MachineFacts, system: SystemResolver) -> NetworkAccess:
    """Make the access from facts."""
    return NetworkAccess(facts, choose_access(facts), system)


@contextlib.asynccontextmanager
async def open_access() -> AsyncIterator[NetworkAccess]:
    """Examine the machine, choose a method, and hold its resources until the end of the block."""
    access = build_access(await asyncio.to_thread(read_facts), await asyncio.to_thread(read_system_resolver))
    if access.way is not LiveWay.SLIRP4NETNS:
        yield access
        return
    relay = await Relay.start(ipv6=access.facts.ipv6)
    try:
        yield replace(access, relay=relay.ready)
    finally:
        await relay.close()


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback
