"""What the bench of announced names makes of fetches, its closed forms, and what it tells the edge."""

import asyncio
import contextlib
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benches.announced import figures, model, pages, testbed
from benches.announced.model import DocumentCase
from benches.common.corpus import page_models
from benches.common.progress import Progress
from benches.dns.cold import rates
from benches.dns.path_capture import Crossing
from resolab.pages.path import AnnouncementMode
from resolab.records import CoalescingMode, FetchNamesRecord, NameAnnouncement

MS = 1_000_000
RTT_MS, BYTES_MS = 90.0, 10.0


def bench(rounds_count: int = 6, names_count: int = 8) -> figures.AnnouncementBench:
    return figures.AnnouncementBench(Path("/nowhere"), Progress(0.0), "4g", names_count, rounds_count, "reno")


@pytest.mark.parametrize(
    ("announcement", "mode", "server_time_ms", "name_delay_ms", "wait_ms"),
    [
        ("document", "separate", 0, 0, 100),
        ("document", "shared_connection", 150, 60, 160),
        # As early as the document, or by its server's time earlier.
        ("early_hints", "separate", 0, 0, 100),
        ("early_hints", "shared_connection", 70, 0, 30),
        ("early_hints", "shared_connection", 150, 60, 10),
        # While the client connects; on an open connection with the document's request.
        ("https_record", "separate", 0, 0, 0),
        ("https_record", "separate", 0, 200, 30),
        ("https_record", "shared_connection", 0, 60, 70),
        ("server_push", "shared_connection", 0, 0, 10),
        ("server_push", "shared_connection", 0, 60, 70),
        ("server_push", "shared_connection", 150, 60, 0),
    ],
)
def test_the_wait_is_what_names_are_later_than_their_document(
    announcement: str, mode: str, server_time_ms: float, name_delay_ms: float, wait_ms: float
) -> None:
    case = DocumentCase(announcement, mode, server_time_ms, name_delay_ms)
    assert model.wait_ms(case, RTT_MS, BYTES_MS) == pytest.approx(wait_ms)


def test_every_case_that_can_be_is_fetched() -> None:
    every = figures.cases()
    assert len(every) == len(set(every)) == 28
    assert not any(one.announcement == "server_push" and one.mode == "separate" for one in every)


def test_each_case_has_a_document_of_its_own_and_says_what_it_announces(tmp_path: Path) -> None:
    text = testbed._configuration(tmp_path, 3, figures.cases())
    edge = tomllib.loads(text)
    documents = {file.name for file in (tmp_path / "pages").iterdir()}
    # The same for both modes, but push, which has one.
    assert len(documents) == 16
    sites = {one["host"]: one for one in edge["site"]}
    assert set(sites) == {
        *(f"{before}{host}" for before in ("", "listed0-", "listed60-") for host, _ in testbed.HOSTS.values())
    }
    shared = {one["path"]: one for one in sites["shared.resolab.test"]["response"]}
    assert len(shared["/server_push-0-60.html"]["pushed_questions"]) == 3
    assert len(shared["/early_hints-150-0.html"]["early_hints"]) == 3
    assert set(shared["/document-150-0.html"]) == {"path", "server_time_ms"}
    listed = [one for one in edge["zone"] if one["type"] == "HTTPS"]
    assert len(listed) == 4
    assert all(one["value"].count("late") == 3 for one in listed)
    late = (tmp_path / "pages" / "document-0-60.html").read_text("utf-8")
    assert late.count("https://late60-") == 3
    assert {one["delay_ms"] for one in edge["name"]} == {60.0}


def record(wait_ms: float, found_ms: float) -> FetchNamesRecord:
    return FetchNamesRecord(
        announcement=NameAnnouncement.DOCUMENT,
        coalescing_mode=CoalescingMode.SEPARATE,
        url="https://own.resolab.test/",
        resolver="https://dns.resolab.test/dns-query",
        sequence=0,
        time_origin_ns=0,
        document_first_byte_ns=round(found_ms * MS),
        names=[],
        names_complete_ns=round((found_ms + wait_ms) * MS),
        name_wait_ns=round(wait_ms * MS),
        unneeded_count=0,
        refused_push_count=0,
    )


def crossing(at_ms: float, ip_bytes: int, *, up: bool) -> Crossing:
    at_ns = round(at_ms * MS)
    return Crossing(up, at_ns, at_ns, ip_bytes, ip_bytes - 52, protocol=6, client_port=1)


def test_bytes_are_those_of_the_fetch_and_from_the_document_on_those_of_its_names() -> None:
    crossings = [
        crossing(-1, 999, up=True),
        crossing(1, 100, up=True),
        crossing(50, 1_000, up=False),
        crossing(60, 200, up=True),
        crossing(150, 500, up=False),
        crossing(170, 999, up=False),
    ]
    found = testbed._add_bytes(record(100, 55), crossings)
    assert (found.up_bytes, found.down_bytes) == (300, 1_500)
    assert (found.names_up_bytes, found.names_down_bytes) == (200, 500)


def test_a_wait_far_from_the_closed_form_is_missed() -> None:
    rtt_ms = rates("4g").rtt_ms
    found = {
        case: [
            testbed.FetchWithBytes(
                record(model.wait_ms(case, rtt_ms, 0.0), model.document_ms(case, rtt_ms)), 100, 200, 0, 0
            )
            for _ in range(6)
        ]
        for case in figures.cases()
    }
    part = figures._waits(bench(), found)
    verdicts = [row[9] for row in part.rows]
    assert len(verdicts) == 28
    assert not any("MISSED" in one for one in verdicts)
    late = DocumentCase("early_hints", "separate", 150.0, 0.0)
    found[late] = [testbed.FetchWithBytes(record(5.0, 500.0), 100, 200, 0, 0)] * 6
    rows = figures._waits(bench(), found).rows
    assert [row[:4] for row in rows if "MISSED" in row[9]] == [["early_hints", "separate", "150", "0"]]
    # With more answers than a first window has room for it is the window that is measured.
    assert not any("MISSED" in row[9] for row in figures._waits(bench(names_count=20), found).rows)


def test_cases_take_turns_the_order_reversed_every_other_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[DocumentCase] = []

    class Bed:
        async def fetch(self, case: DocumentCase, count: int) -> list[testbed.FetchWithBytes]:
            fetched.append(case)
            return [testbed.FetchWithBytes(record(0, 0), 0, 0, 0, 0)] * count

    @contextlib.asynccontextmanager
    async def bed(*_: object) -> AsyncIterator[Bed]:
        yield Bed()

    monkeypatch.setattr(testbed, "open_path", bed)
    found = asyncio.run(figures._measure(bench(rounds_count=3)))
    every = figures.cases()
    assert fetched == [*every, *reversed(every)]
    assert {len(one) for one in found.values()} == {3}
    assert list(found) == every


def test_real_pages_save_what_their_structure_says() -> None:
    models = list(page_models())
    assert len(models) == 37
    push, hints = (
        pages.compare_loads(models, one, 0.0, 91.9)
        for one in (AnnouncementMode.SERVER_PUSH, AnnouncementMode.EARLY_HINTS)
    )
    assert push.pages_count == 37
    assert 0 <= hints.median_ms <= push.median_ms
    assert push.lower_quartile_ms <= push.median_ms <= push.upper_quartile_ms
