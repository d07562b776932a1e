"""The templates of known resolvers: command, configuration and transports of each.

For: `template = "NAME"` in a plan. Not for: a user's own commands (`table`).

The configurations forward every name to the edge, for one thread, without validation and without any look at the
internet. `docs/guides/own-resolver.md` lists the versions they were tried with.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.records import DnsTransport

_FOLDER = Path(__file__).resolve().parent / "templates"
_OVER_TCP = (DnsTransport.DOUDP, DnsTransport.DOTCP, DnsTransport.DOT, DnsTransport.DOH)


@dataclass(frozen=True, slots=True)
class Template:
    """The command and transports of a server that resolab knows."""

    command: tuple[str, ...]
    version: tuple[str, ...]
    transports: tuple[DnsTransport, ...] = _OVER_TCP


TEMPLATES: Mapping[str, Template] = {
    "unbound": Template(("unbound", "-d", "-p", "-c", "@CONFIGURATION@"), ("-V",)),
    "knot-resolver": Template(("kresd", "-n", "-c", "@CONFIGURATION@", "@FOLDER@"), ("-V",)),
    "bind": Template(("named", "-g", "-4", "-n", "1", "-c", "@CONFIGURATION@"), ("-v",)),
    "dnsdist": Template(("dnsdist", "--supervised", "--disable-syslog", "-C", "@CONFIGURATION@"), ("--version",)),
    "coredns": Template(("coredns", "-conf", "@CONFIGURATION@"), ("-version",), tuple(DnsTransport)),
    "hickory": Template(
        ("hickory-dns", "--workers", "1", "-c", "@CONFIGURATION@"), ("--version",), (*_OVER_TCP, DnsTransport.DOQ)
    ),
}


def read_configuration(template: str) -> str:
    """Return the text of a template's configuration."""
    return (_FOLDER / f"{template}.conf").read_text("utf-8")
