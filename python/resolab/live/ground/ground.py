"""The ground a live bed stands on: words before its programs' commands, and the relay while it lasts.

For: `standing_ground`, all a bed needs. Not for: the choice (`choice`), or what is measured.
"""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from resolab.engine import enter_prefix
from resolab.engine.relay import Relay
from resolab.live.ground.choice import Choice, choose_ground
from resolab.live.ground.facts import GroundFacts, read_facts
from resolab.live.ground.resolv_conf import SystemResolver, read_system_resolver
from resolab.records import LiveWay, RelayReadyRecord


@dataclass(frozen=True, slots=True)
class Ground:
    """Where browsers, stub and client run, and how."""

    facts: GroundFacts
    choice: Choice
    system: SystemResolver
    relay: RelayReadyRecord | None = None
    """While it stands, where the way is `slirp4netns`."""

    @property
    def way(self) -> LiveWay:
        """Which way was taken."""
        return self.choice.way

    @property
    def note(self) -> str:
        """What it is and costs, one sentence."""
        return self.choice.note

    @property
    def missing(self) -> str | None:
        """What keeps the machine from a better way, with the command that helps."""
        return self.choice.missing

    @property
    def stub_address(self) -> str:
        """Where the stub listens, on port 53."""
        return self.facts.stub_address

    listen_address = stub_address

    @property
    def own_sandbox(self) -> bool:
        """Whether Chromium can lock its pages' processes up: as any user but root."""
        return not self.facts.is_root

    @property
    def own_names(self) -> str:
        """First line of a hosts file: Firefox looks this machine's name up, and waits for it."""
        return f"127.0.0.1 localhost {socket.gethostname()}"

    @property
    def system_nameserver(self) -> str | None:
        """First name server of `/etc/resolv.conf`."""
        return self.system.address

    @property
    def forwards_to(self) -> tuple[str, ...]:
        """Whom that one asks, where it is a forwarder of the machine's own that says so."""
        return self.system.forwards_to

    def browser_prefix(self, nameserver: str, *, hosts_file: Path | None = None) -> list[str]:
        """Words before a browser's command, which then knows this name server only (where it can have its own)."""
        if self.way is LiveWay.SLIRP4NETNS:
            if self.relay is None:
                raise AssertionError("this way needs a relay: use standing_ground()")
            return enter_prefix(self.relay.pid, self.relay.host, nameserver=nameserver, hosts_file=hosts_file)
        if not self.facts.own_view:
            return []
        hosts = [] if hosts_file is None else ["--hosts", str(hosts_file)]
        address = str(ipaddress.ip_address(nameserver))
        return [self.facts.core, "enter", "--here", "--nameserver", address, *hosts, "--"]

    def stub_prefix(self) -> list[str]:
        """Words before the stub's command: none, its connections leave from the machine's own network."""
        return []

    def stub_arguments(self) -> list[str]:
        """Arguments of the stub beside `--listen`: behind slirp4netns its listening sockets are made there."""
        return [] if self.relay is None else ["--listen-in", f"{self.relay.pid}/{self.relay.host}"]

    def refusal(self, *, by_stub: bool, speaks_doh: bool, nameserver: str | None = None) -> str | None:
        """Say why pages cannot be loaded so, or None: by the stub, over the browser's own DoH, or by resolv.conf.

        `nameserver` is what resolv.conf would name.
        """
        if speaks_doh:
            return None
        if self.way is LiveWay.DNS_ONLY and (by_stub or not self.facts.own_view):
            how = "through the stub" if by_stub else "by a resolv.conf of the browser's own"
            return f"pages cannot be loaded {how} on this machine: {self.missing}"
        if self.way is LiveWay.SLIRP4NETNS and not by_stub and nameserver and _is_loopback(nameserver):
            return f"behind slirp4netns a browser cannot ask {nameserver}, its own loopback there: ask by the stub"
        return None


def stand_on(facts: GroundFacts, system: SystemResolver) -> Ground:
    """Make the ground of facts."""
    return Ground(facts, choose_ground(facts), system)


@contextlib.asynccontextmanager
async def standing_ground() -> AsyncIterator[Ground]:
    """Look at the machine, choose, and hold what the way needs until the end."""
    ground = stand_on(await asyncio.to_thread(read_facts), await asyncio.to_thread(read_system_resolver))
    if ground.way is not LiveWay.SLIRP4NETNS:
        yield ground
        return
    relay = await Relay.start(ipv6=ground.facts.ipv6)
    try:
        yield replace(ground, relay=relay.ready)
    finally:
        await relay.close()


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback
