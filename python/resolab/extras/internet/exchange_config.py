"""The configuration of the exchange between the box's hosts (docs/formats/internet.md). Pure.

For: the TOML text. Not for: running the exchange (`engine`).
"""

from resolab.basics.toml_text import key_lines
from resolab.extras.internet.layout import BoxLayout


def exchange_configuration(layout: BoxLayout, seed: int) -> str:
    """Write the exchange's TOML."""
    tables: list[list[str]] = [key_lines({"seed": seed})]
    for host in layout.hosts:
        tables.append(["[[host]]", *key_lines({"name": host.name, "one_way_ms": host.one_way_ms})])
        for network in host.networks:
            lines = key_lines({"prefix": network.prefix, "extra_one_way_ms": network.extra_one_way_ms})
            tables.append(["[[host.network]]", *lines])
    return "\n\n".join("\n".join(lines) for lines in tables) + "\n"
