"""A DNS transport has its row in every table there is one in: this one test names the tables that lack it.

Tables by transport outside this list are made from `resolab.protocols`; those in Rust are named by the compiler.
"""

from collections.abc import Collection
from pathlib import Path

import pytest

from resolab.plots.style import TRANSPORT_COLOURS, TRANSPORT_DASHES
from resolab.protocols import DNS_TRANSPORTS
from resolab.records import DnsTransport

PROJECT = Path(__file__).resolve().parents[3]


def words_of(page: str, beginning: str) -> Collection[str]:
    """Give the words of the one row of a page's table that begins so."""
    rows = [line for line in (PROJECT / page).read_text("utf-8").splitlines() if line.startswith(beginning)]
    assert len(rows) == 1, f"{page} has {len(rows)} rows that begin with {beginning!r}"
    return rows[0].replace("`", " ").split()


TABLES: dict[str, Collection[str]] = {
    "python/resolab/protocols/dns_transports.py: DNS_TRANSPORTS": DNS_TRANSPORTS,
    "python/resolab/plots/style.py: TRANSPORT_COLOURS": TRANSPORT_COLOURS,
    "python/resolab/plots/style.py: TRANSPORT_DASHES": TRANSPORT_DASHES,
    "docs/glossary.md: dns_transport": words_of("docs/glossary.md", "| `dns_transport` |"),
    "docs/formats/plan.md: factors.dns_transport": words_of("docs/formats/plan.md", "| `factors.dns_transport` |"),
}


@pytest.mark.parametrize("transport", DnsTransport)
def test_no_table_lacks_a_transport(transport: DnsTransport) -> None:
    lacking = [place for place, table in TABLES.items() if transport not in table]
    assert not lacking, f"{transport} has no row in:\n" + "\n".join(lacking)


def test_the_help_names_every_form_of_a_resolvers_url() -> None:
    page = (PROJECT / "python/resolab/cli/query_arguments.py").read_text("utf-8")
    lacking = [
        f"{one}: {facts.url_form}" for one, facts in DNS_TRANSPORTS.items() if _scheme(facts.url_form) not in page
    ]
    assert not lacking, f"the help of `resolab query --resolver` does not name {lacking}"


def _scheme(url_form: str) -> str:
    return url_form.split("{", maxsplit=1)[0]


@pytest.mark.parametrize("table", [TRANSPORT_COLOURS, TRANSPORT_DASHES], ids=["colours", "dashes"])
def test_no_two_transports_look_alike(table: dict[DnsTransport, object]) -> None:
    assert len(set(map(str, table.values()))) == len(table)
