"""What a live bed asks of the ground it stands on.

For: the interface, so that trials can be tried without a machine's rights. Not for: which way is taken, and what is
missing for a better one (`ground`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from resolab.records import LiveWay


class Place(Protocol):
    """Where browser, stub and client run on this machine."""

    @property
    def way(self) -> LiveWay:
        """Which way was taken."""

    @property
    def note(self) -> str | None:
        """What it says of itself, one line."""

    @property
    def stub_address(self) -> str:
        """Where the stub listens, on port 53."""

    @property
    def own_sandbox(self) -> bool:
        """Whether Chromium can lock up its pages' processes."""

    @property
    def own_names(self) -> str:
        """First line of a hosts file: this machine's own names."""

    @property
    def system_nameserver(self) -> str | None:
        """First name server of the machine's `/etc/resolv.conf`."""

    @property
    def forwards_to(self) -> Sequence[str]:
        """Whom that one asks, where it says so."""

    def browser_prefix(self, nameserver: str, *, hosts_file: Path | None = None) -> list[str]:
        """Words before a browser's command, which then knows this name server only."""

    def stub_prefix(self) -> list[str]:
        """Words before the stub's command."""

    def stub_arguments(self) -> list[str]:
        """Words of the stub's command that say where it listens, beside the address."""

    def refusal(self, *, by_stub: bool, speaks_doh: bool, nameserver: str | None = None) -> str | None:
        """Say why pages cannot be loaded so; None: they can."""
