"""Configurations of the box's name servers and resolvers, and their start commands. Pure.

For: texts made from the layout and the templates beside this file; facts used in several texts are in the layout.
Not for: zone files (`zones`), the edges (`edges`), starting anything (`box`).
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from resolab.basics.servers.template import fill_template
from resolab.extras.internet.layout import BoxLayout, BoxResolver, NameServer
from resolab.extras.internet.zones import root_hints, zone_file

TEMPLATES = Path(__file__).resolve().parent / "templates"
BEHIND_ADDRESS, BEHIND_PORT = "127.0.0.1", 5353
"""The listening address of a resolver behind another resolver on the same host."""
_COMMANDS = {
    "nsd": ["nsd", "-d", "-c", "@CONFIGURATION@"],
    "knot": ["knotd", "-c", "@CONFIGURATION@"],
    "unbound": ["unbound", "-d", "-p", "-c", "@CONFIGURATION@"],
    "bind9": ["named", "-g", "-4", "-n", "1", "-c", "@CONFIGURATION@"],
    "kresd": ["kresd", "-n", "-c", "@CONFIGURATION@", "@FOLDER@"],
    "dnsdist": ["dnsdist", "--supervised", "--disable-syslog", "-C", "@CONFIGURATION@"],
}
_ZONE_FORMS = {
    "nsd": 'zone:\n  name: "{0}."\n  zonefile: "{1}"',
    "knot": '  - domain: "{0}."\n    file: "{1}"',
}


class ServerProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A server: its host, files, start command and listening address."""

    name: str
    """The name of its folder."""
    host: str
    files: Mapping[str, str]
    """The texts by file name."""
    command: tuple[str, ...]
    """The command, run in the server's folder; the first word is searched on PATH and in /usr/sbin."""
    address: str
    port: int = 53
    """The UDP port of the running server."""
    certificate: str | None = None
    """The name for its certificate, in `certificate.pem` and `key.pem`; `None` without a certificate."""


def authoritative(layout: BoxLayout, server: NameServer, folder: Path) -> ServerProgram:
    """Configure an authoritative server with all its zones; the file of an unreadable zone is missing."""
    zones = [zone for zone in layout.list_zones(server.host) if zone.is_served]
    files = {_make_file(zone.origin): zone_file(layout, zone) for zone in zones if zone.is_readable}
    form = _ZONE_FORMS[server.software]
    listed = "\n".join(form.format(zone.origin, _make_file(zone.origin)) for zone in zones)
    values = {"ADDRESS": server.address, "ZONES": listed}
    return _program(server.host, server.host, server.software, folder, values, files, server.address)


def recursive(layout: BoxLayout, resolver: BoxResolver, folder: Path) -> list[ServerProgram]:
    """Configure a third-party resolver and the resolver behind; for the edge only the resolver behind."""
    hints = {"hints": root_hints(layout)}
    programs = []
    behind = resolver.recursion_by != resolver.software
    if behind:
        listen = f"  interface: {BEHIND_ADDRESS}@{BEHIND_PORT}"
        values = {"LISTEN": listen, "OUTGOING": resolver.asks_from}
        place = (f"{resolver.name}-behind", resolver.name, resolver.recursion_by)
        programs.append(_program(*place, folder, values, hints, BEHIND_ADDRESS, port=BEHIND_PORT))
    if resolver.software != "edge":
        values = {
            "LISTEN": _unbound_listens(resolver),
            "ADDRESS": resolver.address,
            "OUTGOING": resolver.asks_from,
            "BEHIND": f"{BEHIND_ADDRESS}:{BEHIND_PORT}",
        }
        encrypted = any(one.value not in {"doudp", "dotcp"} for one in resolver.transports)
        place = (resolver.name, resolver.name, resolver.software)
        files = {} if behind else hints
        certificate = resolver.dns_name if encrypted else None
        programs.append(_program(*place, folder, values, files, resolver.address, certificate=certificate))
    return programs


def _unbound_listens(resolver: BoxResolver) -> str:
    """Return unbound's listening lines; without encrypted transports, certificates must be left out."""
    lines = [f"interface: {resolver.address}@53"]
    if "dot" in resolver.transports:
        lines += [
            f"interface: {resolver.address}@853",
            f"interface: {resolver.address}@443",
            "tls-port: 853",
            "https-port: 443",
            'http-endpoint: "/dns-query"',
            'tls-service-key: "@KEY@"',
            'tls-service-pem: "@CERTIFICATE@"',
        ]
    return "\n".join(f"  {line}" for line in lines)


def _program(
    name: str,
    host: str,
    software: str,
    folder: Path,
    values: Mapping[str, str],
    files: Mapping[str, str],
    address: str,
    *,
    port: int = 53,
    certificate: str | None = None,
) -> ServerProgram:
    own = folder / name
    places = {word: str(own / file) for word, file in _PLACES.items()} | {"FOLDER": str(own)}
    template = (TEMPLATES / f"{software}.conf").read_text("utf-8")
    # What stands for places may itself come in with a value.
    text = fill_template(fill_template(template, dict(values)), places)
    return ServerProgram(
        name=name,
        host=host,
        files=dict(files) | {_PLACES["CONFIGURATION"]: text},
        command=tuple(fill_template(word, places) for word in _COMMANDS[software]),
        address=address,
        port=port,
        certificate=certificate,
    )


_PLACES = {"CONFIGURATION": "configuration", "HINTS": "hints", "CERTIFICATE": "certificate.pem", "KEY": "key.pem"}


def _make_file(origin: str) -> str:
    return f"{origin or 'root'}.zone"
