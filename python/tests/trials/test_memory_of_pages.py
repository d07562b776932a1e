"""Pages that can take more memory than there is are refused before anything starts, in one line that says so."""

import asyncio
from pathlib import Path

import pytest

from resolab.basics.errors import MachineError
from resolab.lab import engine
from resolab.lab.layout import PageOrigin, PageSite
from resolab.plan import Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.trials.page_load import memory
from resolab.trials.page_load.memory import available_mb, check_memory, largest_need
from resolab.trials.page_load.runner import PageLoadRunner


def site(folder: Path, page: str, sites_count: int, size_bytes: int = 10) -> PageSite:
    """A page of two hosts a site, one of them with a document."""
    origins = []
    for number in range(sites_count):
        for host, file in (("a", "0.html"), ("b", "1.gif")):
            files = folder / page / f"{host}{number}"
            files.mkdir(parents=True)
            (files / file).write_bytes(bytes(size_bytes))
            origins.append(PageOrigin(host=f"{host}.s{number}-{page}.test", address="10.77.1.1", folder=files))
    return PageSite(page=page, origins=tuple(origins), path="/0.html")


def meminfo(folder: Path, available_kib: int) -> Path:
    file = folder / "meminfo"
    file.write_text(f"MemTotal: 99000000 kB\nMemAvailable:   {available_kib} kB\n", "ascii")
    return file


def test_each_site_of_a_document_is_a_process_and_no_more_than_browsers_have(tmp_path: Path) -> None:
    pages = [site(tmp_path, name, count) for name, count in (("one", 1), ("some", 30), ("many", 60), ("most", 90))]
    one, some, many, most = (largest_need([page], 1).needed_mb for page in pages)
    assert one < some < many == most
    assert some - one == 29 * memory.FRAME_SITE_MB
    need = largest_need(pages, 1)
    assert (need.page, need.hosts_count, need.sites_count, need.needed_mb) == ("most", 180, 90, most)


def test_every_browser_and_every_file_the_edge_holds_is_counted(tmp_path: Path) -> None:
    pages = [site(tmp_path, "small", 1), site(tmp_path, "large", 1, size_bytes=4_000_000)]
    assert largest_need(pages, 3).needed_mb - largest_need(pages, 1).needed_mb == 2 * memory.BROWSER_MB
    assert largest_need(pages, 1).needed_mb - largest_need(pages[:1], 1).needed_mb == 8


def test_what_can_take_more_than_there_is_is_refused_in_one_line(tmp_path: Path) -> None:
    page = site(tmp_path, "shop", 30)
    needed_mb = largest_need([page], 1).needed_mb
    check_memory([page], 1, meminfo(tmp_path, needed_mb * 1_000))
    with pytest.raises(MachineError) as told:
        check_memory([page], 1, meminfo(tmp_path, 500_000))
    assert str(told.value) == (
        f"could not start the testbed: page shop of 60 hosts on 30 sites can take {needed_mb} MB with a browser, and "
        "512 MB are available; end other programs, or leave the page out"
    )


def test_where_nobody_says_what_there_is_nothing_is_refused(tmp_path: Path) -> None:
    assert available_mb(tmp_path / "none") is None
    check_memory([site(tmp_path, "shop", 1)], 1, tmp_path / "none")


def test_a_testbed_asks_before_it_starts_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = load_plan(PROJECT_ROOT / "plans" / "quick.toml")
    monkeypatch.setattr("resolab.trials.page_load.memory.available_mb", lambda _file: 1)
    monkeypatch.setattr(engine.Path, "start", lambda *_, **__: pytest.fail("the path was started"))

    async def start() -> None:
        async with PageLoadRunner(plan, Corpus.from_project(plan.own_pages), 1):
            pytest.fail("the testbed was started")

    with pytest.raises(MachineError, match="could not start the testbed"):
        asyncio.run(start())
