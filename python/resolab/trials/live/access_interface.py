"""The interface of a live bed to its network access.

For: testing trials without a machine's rights. Not for: the chosen method, and the requirements of a better method
(`network_access`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from resolab.basics.records import LiveWay


class AccessInterface(Protocol):
    """The location of browser, stub and client on this machine."""

    @property
    def way(self) -> LiveWay:
        """Return the chosen method."""

    @property
    def note(self) -> str | None:
        """Return a description of the method, one line."""

    @property
    def stub_address(self) -> str:
        """Return the stub's listening address, for port 53."""

    @property
    def own_sandbox(self) -> bool:
        """Return True when Chromium can sandbox its page processes."""

    @property
    def own_names(self) -> str:
        """Return the first line of a hosts file: this machine's own names."""

    @property
    def system_nameserver(self) -> str | None:
        """Return the first name server of the machine's `/etc/resolv.conf`."""

    @property
    def forwards_to(self) -> Sequence[str]:
        """Return the upstream resolvers of this name server, as far as published."""

    def browser_prefix(self, nameserver: str, *, hosts_file: Path | None = None) -> list[str]:
        """Return the prefix of a browser's command; the browser then uses only this name server."""

    def stub_prefix(self) -> list[str]:
        """Return the prefix of the stub's command."""

    def stub_arguments(self) -> list[str]:
        """Return the stub's arguments for its listening host, beside the address."""

    def refusal(self, *, by_stub: bool, speaks_doh: bool, nameserver: str | None = None) -> str | None:
        """Return the reason against these page loads; `None` when possible."""
