"""The settings of one software of a plan: command, configuration, transports and cache.

For: a checked `[software.NAME]` table. Not for: reading the table (`table`), or the running program (`lab.software`).
"""

from dataclasses import dataclass
from enum import StrEnum

from resolab.basics.records import DnsTransport

EDGE = "edge"
"""The level of the lab's own server."""
USUAL_READY_S, LONGEST_READY_S = 10.0, 600.0


class CacheBefore(StrEnum):
    """The cache of a resolver at the begin of a trial."""

    WARM = "warm"
    """The page's names are asked before each trial, so the cache has the answers."""
    COLD = "cold"
    """The program is started anew in an empty folder before each trial, so its cache has no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """One resolver of a plan."""

    name: str
    command: tuple[str, ...]
    """The command with placeholders; a first word without slash is searched on PATH and in /usr/sbin."""
    configuration: str
    """The text of the configuration with placeholders; empty for a program without a file."""
    transports: tuple[DnsTransport, ...]
    """The transports the program must answer over."""
    version: tuple[str, ...] = ()
    """The arguments that make the program print its version; empty: nobody asks."""
    template: str | None = None
    cache: CacheBefore = CacheBefore.WARM
    ready_s: float = USUAL_READY_S
    """The longest time from the start to the first answer over every transport, in s."""
