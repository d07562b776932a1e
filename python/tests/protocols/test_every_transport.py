"""A DNS transport has its row in every table there is one in: this one test names the tables that lack it.

Tables by transport outside this list are made from `resolab.basics.protocols`; those in Rust are named by the compiler.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest
import synthetic_dataset

from resolab.basics.protocols import DNS_TRANSPORTS
from resolab.basics.records import DnsTransport, QueryRecord
from resolab.report import build_report
from resolab.report.plots.style import TRANSPORT_COLOURS, TRANSPORT_DASHES

PROJECT = Path(__file__).resolve().parents[3]


def words_of(page: str, beginning: str) -> Collection[str]:
    """Give the words of the one row of a page's table that begins so."""
    rows = [line for line in (PROJECT / page).read_text("utf-8").splitlines() if line.startswith(beginning)]
    assert len(rows) == 1, f"{page} has {len(rows)} rows that begin with {beginning!r}"
    return rows[0].replace("`", " ").split()


TABLES: dict[str, Collection[str]] = {
    "python/resolab/basics/protocols/dns_transports.py: DNS_TRANSPORTS": DNS_TRANSPORTS,
    "python/resolab/report/plots/style.py: TRANSPORT_COLOURS": TRANSPORT_COLOURS,
    "python/resolab/report/plots/style.py: TRANSPORT_DASHES": TRANSPORT_DASHES,
    "docs/glossary.md: dns_transport": words_of("docs/glossary.md", "| `dns_transport` |"),
    "docs/formats/plan.md: factors.dns_transport": words_of("docs/formats/plan.md", "| `factors.dns_transport` |"),
}


@pytest.mark.parametrize("transport", DnsTransport)
def test_no_table_lacks_a_transport(transport: DnsTransport) -> None:
    lacking = [place for place, table in TABLES.items() if transport not in table]
    assert not lacking, f"{transport} has no row in:\n" + "\n".join(lacking)


def test_the_help_names_every_form_of_a_resolvers_url() -> None:
    page = (PROJECT / "python/resolab/cli/query/arguments.py").read_text("utf-8")
    lacking = [
        f"{one}: {facts.url_form}" for one, facts in DNS_TRANSPORTS.items() if _scheme(facts.url_form) not in page
    ]
    assert not lacking, f"the help of `resolab query --resolver` does not name {lacking}"


def _scheme(url_form: str) -> str:
    return url_form.split("{", maxsplit=1)[0]


@pytest.mark.parametrize("table", [TRANSPORT_COLOURS, TRANSPORT_DASHES], ids=["colours", "dashes"])
def test_no_two_transports_look_alike(table: dict[DnsTransport, object]) -> None:
    assert len(set(map(str, table.values()))) == len(table)


def test_a_report_can_be_made_of_every_transport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = synthetic_dataset._query

    def of_the_condition(condition: Any, transport: DnsTransport, *rest: Any) -> QueryRecord:
        """Put a cold exchange over the condition's own transport in the place of the one over DoQ."""
        query = made(condition, transport, *rest)
        own = condition.dns_transport if transport is DnsTransport.DOQ else transport
        return msgspec.structs.replace(query, dns_transport=own)

    monkeypatch.setattr(synthetic_dataset, "_query", of_the_condition)
    listed = ", ".join(f'"{one}"' for one in DnsTransport)
    paths = "\n".join(f'{one} = "stub"' for one in DnsTransport)
    text = synthetic_dataset.PLAN_TEXT.replace('["doudp", "doh", "doq"]', f"[{listed}]").replace(
        "blocks = 6", "blocks = 2"
    )
    text = (
        text.replace('doudp = "native"\ndoh = "native"\ndoq = "stub"', paths)
        .replace(', "wikipedia"]', "]")
        .replace('"fiber", ', "")
    )
    folder = synthetic_dataset.make_dataset(tmp_path / "made-up", synthetic_dataset.make_plan(text))
    page = build_report(folder).read_text("utf-8")
    assert [facts.label for facts in DNS_TRANSPORTS.values() if f"{facts.label} + H3" not in page] == []
