"""`resolab visit` end to end, in two namespaces that it cannot tell from the internet: whom it contacts, and whom not."""

import asyncio
import contextlib
import json
import sqlite3

import pytest
from lab import COMMAND
from live_world import OPERATOR, live_world

from resolab.basics.records import EdgeQueryRecord, EdgeRequestRecord

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
NEWS, SHOP = "news.resolab.test", "shop.resolab.test"
WORDS = ["-r", "local", "-r", "tls://dns.resolab.test", "--operator", OPERATOR, "--loads", "1", "--timeout-s", "20"]


@pytest.fixture(scope="module")
def visited(privileged, tmp_path_factory):
    """A dry run and a visit of both sites, one of them on the list; what the edge saw of it."""
    folder, seen = tmp_path_factory.mktemp("world"), []
    listed = folder / "list"
    listed.write_text(f"{SHOP}  # asked by mail\n")
    words = ["visit", NEWS, SHOP, *WORDS, "--opt-out", listed, "--json"]

    async def scene():
        async with live_world(folder, on_record=seen.append) as (world, edge):

            def run(*more):
                return world.resolab(*words, *more, command=COMMAND)

            dry = await asyncio.to_thread(run, "--dry-run")
            await edge.flush()
            silent = not any(isinstance(one, EdgeQueryRecord | EdgeRequestRecord) for one in seen)
            ended = await asyncio.to_thread(run, "--har", folder / "har")
            await edge.flush()
            return dry, silent, ended

    dry, silent, ended = asyncio.run(scene())
    assert dry.returncode == 0, dry.stderr
    assert ended.returncode == 0, ended.stderr
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    return [json.loads(line) for line in dry.stdout.splitlines()], silent, rows, seen, folder


def test_pages_are_loaded_over_each_resolver(visited):
    _, _, rows, _, folder = visited
    loads = [row for row in rows if row["record"] == "visit_load" and NEWS in row["url"]]
    assert {row["dns_transport"]: row["failure"] for row in loads} == {"doudp": None, "dot": None}
    assert all(row["plt_ms"] > 0 and row["look_up_ms"] for row in loads)
    assert [bool(row["opening_ms"]) for row in loads] == [row["dns_transport"] == "dot" for row in loads]
    archives = [json.loads(file.read_text()) for file in sorted((folder / "har").iterdir())]
    assert len(archives) == 4
    assert any(entry["request"]["url"] == f"https://{NEWS}/s.js" for one in archives for entry in one["log"]["entries"])
    assert "secret" not in json.dumps(archives), "of URLs the query is not kept"


def test_who_is_on_the_list_is_not_contacted_and_not_dropped(visited):
    _, _, rows, seen, _ = visited
    left = [row for row in rows if row["record"] == "visit_load" and SHOP in row["url"]]
    assert [row["failure"] for row in left] == ["left_alone"] * 2
    assert all("opt-out list" in row["failure_detail"] for row in left)
    assert all(row["failures"] == {"left_alone": 1} for row in rows if row["record"] == "visit_summary")
    assert not [one for one in seen if isinstance(one, EdgeRequestRecord) and SHOP in one.authority]
    assert not [one for one in seen if isinstance(one, EdgeQueryRecord) and SHOP in one.qname]


def test_a_dry_run_contacts_nobody_and_names_all_but_what_pages_reach(visited):
    dry, silent, _, seen, _ = visited
    assert silent
    named = {row["host"] for row in dry}
    assert {NEWS, "dns.resolab.test"} <= named
    asked = {one.authority.removesuffix(":443") for one in seen if isinstance(one, EdgeRequestRecord)}
    assert asked - named == {"cdn.resolab.test"}, "of the page's own making"


def test_what_was_asked_stands_in_the_ledger(visited):
    *_, seen, folder = visited
    with contextlib.closing(sqlite3.connect(folder / "state" / "resolab" / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT site FROM loads").fetchall() == [("resolab.test",)] * 2
        (counted,) = ledger.execute("SELECT SUM(queries_count) FROM queries").fetchone()
    assert counted >= sum(isinstance(one, EdgeQueryRecord) for one in seen)
