"""`resolab visit` from its words to its output, with loads that are made up."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from made_up_loads import PAGE_MS, page_load

from resolab.basics.errors import MachineError
from resolab.basics.records import DnsTransport, PageFailure, Record
from resolab.cli.main import main
from resolab.cli.visit.arguments import BROWSERS, TRANSPORTS
from resolab.extras.visit import PlannedVisitLoad, live_loader
from resolab.plan import Plan
from resolab.plan.browser_builds import STOCK_BROWSERS

OPERATOR = ["--operator", "https://lab.uni.test/"]
PAGES = ["a.test", "b.test", "https://c.test/"]
RESOLVERS = ["-r", "local", "-r", "tls://198.18.2.1", "-r", "quic://198.18.5.1"]


class PretendedLoader:
    """DoT takes 40 ms more than the others, nothing is noise, the first round takes longer."""

    def __init__(self, ends_with: BaseException | None, number: int | None) -> None:
        self._ends_with, self._signal = ends_with, number

    async def load(self, visit: PlannedVisitLoad, number: int) -> Sequence[Record]:
        if number == 20 and self._ends_with is not None:
            raise self._ends_with
        if number == 20 and self._signal is not None:
            os.kill(os.getpid(), self._signal)
            os.kill(os.getpid(), self._signal)
            await asyncio.sleep(10)
        if number == 7:
            return [page_load(visit.url, None, failure=PageFailure.DRIVER)]
        if "dead" in visit.url:
            return [page_load(visit.url, None, failure=PageFailure.CONNECT)]
        more = 40.0 if visit.configuration.words == "198.18.2.1" else 0.0
        return [page_load(visit.url, PAGE_MS[visit.url] + more + number % 3)]


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    plans: list[Plan] = []
    pretend(monkeypatch, plans)
    return plans


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    plans: list[Plan],
    ends_with: BaseException | None = None,
    number: int | None = None,
) -> None:
    @asynccontextmanager
    async def loader(plan: Plan, visits: Sequence[PlannedVisitLoad], **_: object) -> AsyncIterator[PretendedLoader]:
        plans.append(plan)
        try:
            yield PretendedLoader(ends_with, number)
        finally:
            await asyncio.sleep(0.01)
            plans.append(plan)

    monkeypatch.setattr(live_loader, "live_loader", loader)


def test_people_are_told_beforehand_and_get_one_screen(
    pretended: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["visit", *PAGES, *RESOLVERS, *OPERATOR]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("resolab: 72 loads (pages: 3, resolvers and transports: 3, 8 each), about 2 min 37 s")
    assert " ".join(out.split()).startswith(
        "For these pages none is faster than local DoUDP beyond noise. Slower: 198.18.2.1 DoT."
    )
    assert "1 x driver" in out
    assert len(out.splitlines()) <= 24
    plan, _ = pretended
    assert plan.live is not None
    assert [site.url for site in plan.live.sites.values()] == ["https://a.test/", "https://b.test/", "https://c.test/"]


def test_programs_get_an_object_a_line(pretended: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["visit", *PAGES, *RESOLVERS, *OPERATOR, "--loads", "4", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["record"] for row in rows] == ["visit", *["visit_load"] * 36, *["visit_summary"] * 3]
    verdicts = {row["dns_transport"]: row["verdict"] for row in rows if row["record"] == "visit_summary"}
    assert verdicts == {"doudp": "baseline", "doq": "alike", "dot": "slower"}
    assert pretended


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (MachineError("no list"), 4)])
def test_a_visit_that_ends_early_shows_what_it_has(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, [], ends_with=error)
    assert main(["visit", *PAGES, *RESOLVERS, *OPERATOR]) == code
    assert "page load ms" in capsys.readouterr().out


def test_a_page_that_never_comes_is_told(pretended: list[Plan], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["visit", "a.test", "dead.test", *RESOLVERS, *OPERATOR, "--loads", "3"]) == 0
    _, err = capsys.readouterr()
    assert "12 loads; none of https://dead.test/ came through, so there were no more\n" in err
    assert pretended


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_lets_browsers_end_and_a_second_one_does_not_disturb(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plans: list[Plan] = []
    pretend(monkeypatch, plans, number=number)
    assert main(["visit", *PAGES, *RESOLVERS, *OPERATOR]) == 130
    assert len(plans) == 2, "what was begun was ended"
    assert "page load ms" in capsys.readouterr().out


def test_words_of_the_arguments_are_those_of_records() -> None:
    assert set(BROWSERS) == set(STOCK_BROWSERS)
    assert list(TRANSPORTS) == [*DnsTransport]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_dry_run_names_everybody_and_loads_nothing(
    as_json: bool, pretended: list[Plan], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resolab.extras.queries.system_resolver", lambda: "udp://198.18.0.53")
    words = ["visit", *PAGES, *RESOLVERS, "-r", "https://dns.quick.test", *OPERATOR, "--dry-run"]
    assert main([*words, *(["--json"] if as_json else [])]) == 0
    out = capsys.readouterr().out
    for host in ("a.test", "b.test", "c.test", "198.18.0.53", "198.18.2.1", "198.18.5.1", "dns.quick.test"):
        assert host in out
    assert ("nobody knows before it is loaded" in " ".join(out.split())) is not as_json
    assert not pretended


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["visit", "a.test", "-r", "local"], 2, "--operator"),
        (["visit", "a.test", "-r", "local", "--operator", "https://example.com/"], 3, "leads to nobody"),
        (["visit", "wikipedia.org", "-r", "local", *OPERATOR], 3, "outside an internet in a box"),
        (["visit", "a.test", *OPERATOR], 2, "name them with -r"),
        (["visit", "a.test", "-r", "local", *OPERATOR, "--loads", "0"], 2, "from 1 to 60"),
        (["visit", "a.test", "-r", "local", *OPERATOR, "--transports", "dox"], 2, "is no transport"),
        (["visit", "a.test", "-r", "local", *OPERATOR, "--timeout-s", "0"], 2, "seconds from 1 to 600"),
        (["visit", "ftp://a.test/", "-r", "local", *OPERATOR], 3, "is no site"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str], pretended: list[Plan]
) -> None:
    try:
        found = main(words)
    except SystemExit as ended:
        found = int(ended.code or 0)
    assert (found, pretended) == (code, [])
    assert told in capsys.readouterr().err
