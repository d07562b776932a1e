"""The ledger under many processes, kills, full disks, hostile headers and a former version's damaged file.

In each case nobody is contacted beyond the caps, and the ledger can be read afterwards.
"""

import asyncio
import contextlib
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from resolab.basics.errors import StorageError
from resolab.plan.manners import HARD_CAPS, Caps, ContactRefusal, Ledger, my_turn, stop_sign_of_load
from resolab.plan.manners.ledger_file import LEDGER
from resolab.plan.manners.legacy_ledger import FORMER_LEDGER
from resolab.plan.manners.stop import LEFT_ALONE_AT_MOST_S

T0 = 1_790_000_000.0
HOUR = 3_600.0
CAPS = Caps(
    loads_per_site_per_hour=30,
    loads_per_site_per_day=200,
    loads_per_hour=200,
    queries_per_resolver_per_second=50,
    queries_per_resolver_per_hour=3_000,
)
FORKED = multiprocessing.get_context("fork")


def opened(folder: Path, *, run: str = "one", now_s: float = T0, caps: Caps = CAPS) -> Ledger:
    return Ledger.open(folder, caps, run=run, now_s=now_s)


def rows(folder: Path, statement: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(folder / LEDGER)) as ledger:
        assert ledger.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return ledger.execute(statement).fetchall()


class WouldWaitError(Exception):
    """A cap is reached; nobody waits an hour here."""


async def loads(folder: Path, run: str, count: int, contacted: Path) -> None:
    """Load as often as the caps allow; who contacts a site writes so before."""

    async def sleep(seconds: float) -> None:
        if seconds > 1:
            raise WouldWaitError
        await asyncio.sleep(seconds / 20)

    with contextlib.suppress(WouldWaitError):
        for _ in range(count):
            ledger = opened(folder, run=run, now_s=time.time())
            async with my_turn(ledger, site="www.shop.test", resolver="9.9.9.9", sleep=sleep) as turn:
                with contacted.open("a") as file:
                    file.write(f"{run}\n")
                turn.settle(20)


def in_a_process(do: Callable[[], object]) -> multiprocessing.process.BaseProcess:
    process = FORKED.Process(target=do)
    process.start()
    return process


def test_two_campaigns_and_fifty_starts_at_once_with_kills_keep_to_the_caps(tmp_path: Path) -> None:
    contacted = tmp_path / "contacted"
    draw = random.Random(46)
    campaigns = [in_a_process(lambda run=run: asyncio.run(loads(tmp_path, run, 1000, contacted))) for run in "ab"]
    starts = [
        in_a_process(lambda run=run: asyncio.run(loads(tmp_path, run, 2, contacted))) for run in map(str, range(50))
    ]
    for victim in draw.sample(starts, 20):
        time.sleep(draw.uniform(0, 0.02))
        victim.kill()
    for process in (*starts, *campaigns):
        process.join(120)
        assert process.exitcode in {0, -signal.SIGKILL}
    made = len(contacted.read_text().splitlines())
    ((noted,),) = rows(tmp_path, "SELECT COUNT(*) FROM loads")
    assert isinstance(noted, int)
    assert made <= noted == CAPS.loads_per_site_per_hour
    wait_s = opened(tmp_path, now_s=time.time()).wait_s(time.time(), site="shop.test")
    assert isinstance(wait_s, float)
    assert wait_s > 0


def test_what_was_noted_stands_after_a_kill_at_any_instant(tmp_path: Path) -> None:
    draw, said = random.Random(46), 0

    def work(told: int) -> None:
        ledger = opened(tmp_path)
        while True:
            noted = ledger.note(T0, site="a.test", resolver="9.9.9.9")
            os.write(told, b".")
            ledger.settle(noted, 7)

    for _ in range(60):
        hears, told = os.pipe()
        process = in_a_process(lambda told=told: work(told))
        os.close(told)
        assert os.read(hears, 1) == b"."
        time.sleep(draw.uniform(0, 0.01))
        process.kill()
        process.join()
        with os.fdopen(hears, "rb") as rest:
            said += 1 + len(rest.read())
        ((noted,),) = rows(tmp_path, "SELECT COUNT(*) FROM loads")
        assert isinstance(noted, int)
        assert noted >= said
        said = noted
        opened(tmp_path)


def limited(file_bytes: int) -> None:
    """Let no file grow beyond so many bytes: a write is then cut short, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, resource.RLIM_INFINITY))


def test_a_write_that_is_cut_short_is_as_if_it_was_never_begun(tmp_path: Path) -> None:
    def work() -> None:
        ledger = opened(tmp_path, caps=HARD_CAPS)
        for size in range(40_000, 120_000, 7_777):
            limited(size)
            with contextlib.suppress(StorageError):
                while True:
                    ledger.note(T0, site="a.test" * 20, resolver="9.9.9.9")
                    os.write(told, b".")
            limited(resource.RLIM_INFINITY)
            ledger.wait_s(T0, site="a.test")

    hears, told = os.pipe()
    process = in_a_process(work)
    os.close(told)
    with os.fdopen(hears, "rb") as read:
        said = len(read.read())
    process.join()
    assert process.exitcode == 0
    assert said > 100
    assert rows(tmp_path, "SELECT COUNT(*) FROM loads") == [(said,)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a full disk needs a mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(ledger: Ledger) -> None:
    for _ in range(1_000):
        ledger.note(T0, site="other.test")


def test_on_a_full_disk_nothing_is_begun_and_with_room_all_is_as_before(small_disk: Path) -> None:
    ledger, filler = opened(small_disk), small_disk / "filler"
    for _ in range(3):
        ledger.note(T0, site="shop.test")
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 512)
    with pytest.raises(StorageError, match="make room there"):
        fill(ledger)
    assert ledger.wait_s(T0, site="shop.test") == 0, "it can be looked at"
    filler.unlink()
    ledger.note(T0, site="shop.test")
    assert rows(small_disk, "SELECT COUNT(*) FROM loads WHERE site = 'shop.test'") == [(4,)]


@pytest.mark.parametrize(
    "header",
    [
        "999999999999", "9" * 5_000, "1e308", "inf", "nan", "-1", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 -0000",
        "\x1b]0;owned\x07", "[/red]", "\u202e120", "5\nX", "\ud800", "",
    ],
)  # fmt: skip
@pytest.mark.parametrize("status", [429, 503])
def test_no_header_ends_measuring_or_reaches_a_terminal(tmp_path: Path, header: str, status: int) -> None:
    ledger = opened(tmp_path)
    sign = stop_sign_of_load("shop.test", now_s=T0, status=status, retry_after=header)
    if sign is not None:
        ledger.note_stop(T0, sign)
    again = opened(tmp_path, run="another")
    assert again.wait_s(T0, site="other.test") == 0
    found = again.wait_s(T0, site="shop.test")
    assert isinstance(found, ContactRefusal) == (sign is not None)
    if isinstance(found, ContactRefusal):
        assert found.detail.isprintable()
        assert again.wait_s(T0 + LEFT_ALONE_AT_MOST_S + 1, site="shop.test") == 0


def former(**line: object) -> bytes:
    return msgspec.json.encode(line) + b"\n"


LOADED = former(what="load", at_s=T0, site="shop.test")
ASKED = former(what="queries", at_s=T0, resolver="9.9.9.9", queries_count=300, paced=False)
SETTLED = former(what="queries", at_s=T0, resolver="9.9.9.9", queries_count=-260, paced=False)
STOPPED = former(
    what="stop", at_s=T0, reason="forbidden", until_s=T0 + HOUR, run="two", site="news.test", detail="HTTP status 403"
)
FOREVER = former(what="stop", at_s=T0, reason="too_many_requests", until_s=None, run="two", site="ads.test")


@pytest.mark.parametrize(
    "content",
    [
        LOADED * 30 + ASKED + SETTLED + STOPPED + FOREVER,
        LOADED * 15 + b'{"what":"load","at_s":17' + LOADED * 15 + ASKED[:20] + ASKED + SETTLED + STOPPED + FOREVER + LOADED[:9],
        b"\xff\xfe\n\n{}\nnull\n" + FOREVER + STOPPED + ASKED + SETTLED + LOADED * 30 + b'{"what":"other"}\n',
    ],
)  # fmt: skip
def test_what_a_former_version_noted_holds(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FORMER_LEDGER).write_bytes(content)
    ledger = opened(tmp_path)
    for _ in range(2):
        assert ledger.wait_s(T0, site="shop.test") == HOUR
        assert ledger.wait_s(T0, resolver="9.9.9.9", queries_count=2_960) == 0
        assert ledger.wait_s(T0, resolver="9.9.9.9", queries_count=2_961) == HOUR
        assert isinstance(ledger.wait_s(T0, site="news.test"), ContactRefusal)
        assert isinstance(ledger.wait_s(T0 + HOUR, site="ads.test"), ContactRefusal)
        assert not (tmp_path / FORMER_LEDGER).exists()
        ledger = opened(tmp_path)
    assert isinstance(opened(tmp_path, run="two").wait_s(T0 + HOUR, site="news.test"), ContactRefusal)


def test_what_a_former_version_notes_beside_a_run_is_seen_by_the_run(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.wait_s(T0, site="shop.test") == 0
    (tmp_path / FORMER_LEDGER).write_bytes(LOADED * 30)
    assert ledger.wait_s(T0, site="shop.test") == HOUR


def test_a_ledger_is_opened_by_starts_of_which_each_is_a_program(tmp_path: Path) -> None:
    words = (
        "import sys; from pathlib import Path; from resolab.plan.manners import Ledger; "
        "Ledger.open(Path(sys.argv[1]), run='x', now_s=0.0).note(0.0, site='a.test')"
    )
    started = [subprocess.Popen([sys.executable, "-c", words, str(tmp_path)]) for _ in range(4)]
    assert [one.wait(60) for one in started] == [0] * 4
    assert rows(tmp_path, "SELECT COUNT(*) FROM loads") == [(4,)]
