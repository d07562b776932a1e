"""The box's own servers, as configurations of `resolab-core edge`: the resolver with every transport, and all sites.

For: TOML made from the layout. Pure. Not for: the edge's use of the TOML (docs/formats/edge.md).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from resolab.basics.toml_text import key_lines
from resolab.extras.internet.layout import WEB, BoxLayout, BoxResolver, BoxSite
from resolab.extras.internet.servers import BEHIND_ADDRESS, BEHIND_PORT


def resolver_edge(ca_folder: Path, resolver: BoxResolver) -> str:
    """Configure the resolver with every transport, forwarding to a resolver behind."""
    forward = {"url": f"udp://{BEHIND_ADDRESS}:{BEHIND_PORT}", "timeout_ms": 10_000}
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("[ca]", {"folder": ca_folder}),
        (
            "[resolver]",
            # A name of its own must be below some origin; nobody asks for one below this.
            {"name": resolver.dns_name, "addresses": [resolver.address], "origins": ["edge.invalid"]},
        ),
        ("[resolver.forward]", forward),
    ]
    return _text(tables)


def web_edge(ca_folder: Path, sites: Sequence[BoxSite]) -> str:
    """Configure the process serving all sites, each at its own address."""
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("[ca]", {"folder": ca_folder}),
        *(("[[site]]", origin.table) for site in sites for origin in site.origins),
        *(("[[certificate]]", {"names": names}) for site in sites for names in _list_shared_certificates(site)),
    ]
    return _text(tables)


def _list_shared_certificates(site: BoxSite) -> list[list[str]]:
    groups: dict[int, list[str]] = defaultdict(list)
    for origin in site.origins:
        if origin.certificate is not None:
            groups[origin.certificate].append(origin.host)
    return [names for names in groups.values() if len(names) > 1]


def configure_edges(layout: BoxLayout, ca_folder: Path) -> dict[str, tuple[str, str]]:
    """Return each edge's host and configuration, by the edge's name."""
    resolvers = [one for one in layout.resolvers if one.software == "edge"]
    configured = {one.name: (one.name, resolver_edge(ca_folder, one)) for one in resolvers}
    return {WEB: (WEB, web_edge(ca_folder, layout.sites)), **configured}


def _text(tables: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    return "\n\n".join("\n".join([head, *key_lines(table)]) for head, table in tables) + "\n"
