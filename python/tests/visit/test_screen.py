"""What people and programs are shown: one screen, and objects without infinities."""

import io
import json

import pytest
from made_up_loads import PAGES, SIX, load_of, made_up
from rich.console import Console

from resolab.basics.records import PageFailure
from resolab.cli.visit import objects
from resolab.cli.visit.progress import VisitProgress
from resolab.cli.visit.screen import screen
from resolab.extras.visit import VisitExtent, VisitLoad, choose_baseline, summaries

STEPS = [30.0, 0.0, 60.0, 20.0, 10.0, 45.0]
EXPECTED = """\
Fastest for these pages: 198.18.1.1 DoUDP, -33.0 [-37.0, -27.1] ms against local DoUDP (95%).

   resolver    transport  page load ms         difference ms  verdict  first ms  loads  failed
1  198.18.1.1  DoUDP             697.0  -33.0 [-37.0, -27.1]  faster     1100.0     15       1
2  198.18.4.1  DoH3              711.0  -23.5 [-27.6, -19.0]  faster     1107.0     15       1
3  198.18.3.1  DoH               722.0   -12.2 [-15.5, -6.7]  faster     1123.0     15       1
4  local       DoUDP             734.0                                   1129.0     15       1
5  198.18.5.1  DoQ               743.0   +12.0 [+6.7, +18.1]  slower     1141.0     15       1
6  198.18.2.1  DoT              1555.0   +26.0 [+20.0, +inf]  slower     1965.0     15       6

page load ms by place       1       2       3       4       5       6
a.test                  303.5   308.0   320.0   331.0   344.5   356.5
b.test                  697.0   711.0   723.5   734.0   745.0     inf
c.test                 1498.0  1509.0  1519.0  1533.0  1546.0  1555.0

6 x left_alone: all resolvers
5 x page_timeout: 198.18.2.1 DoT (5)
difference: paired, from local DoUDP [95% for all together, of these pages alone]; noise: it has 0; alike: within 10 ms
first: median of the first round, not compared: resolvers then fill their caches
failed: longer than the limit, but for the browser's own and left_alone, which say nothing
"""


def jittered(steps: list[float] = STEPS) -> list[VisitLoad]:
    """Make the same loads on every machine: a few milliseconds more or less, by their number."""
    exact = made_up(steps, noise_ms=0.0, first_ms=0.0, loads_count=5)
    return [
        load_of(one.visit, (one.plt_ms or 0.0) + number * 37 % 11 - 5 + (400 if one.visit.round == 0 else 0))
        for number, one in enumerate(exact)
    ]


def with_failures(loads: list[VisitLoad]) -> list[VisitLoad]:
    """One resolver's loads of one page end at their limit, and one site does not want us after its first loads."""
    return [
        load_of(one.visit, None, PageFailure.PAGE_TIMEOUT)
        if one.visit.configuration == SIX[2] and one.visit.url == PAGES[1]
        else load_of(one.visit, None, PageFailure.LEFT_ALONE)
        if one.visit.url == PAGES[2] and one.visit.round == 4
        else one
        for one in loads
    ]


def shown(loads: list[VisitLoad], width: int = 140) -> str:
    out = io.StringIO()
    found = screen(summaries(SIX, loads), PAGES, choose_baseline(SIX), width)
    Console(file=out, width=width, highlight=False).print(found)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_the_screen_of_three_pages_over_six_resolvers() -> None:
    assert shown(with_failures(jittered())) == EXPECTED.rstrip()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_is_one_screen_at_any_width(width: int) -> None:
    lines = shown(with_failures(jittered()), width).splitlines()
    assert len(lines) <= (30 if width < 80 else 24)
    assert max(map(len, lines)) <= width


def test_what_is_noise_or_too_few_is_said_in_the_first_line() -> None:
    assert shown(jittered([0.0] * 6)).startswith("No difference beyond noise from local DoUDP for these pages.")
    slower = shown(jittered([0.0, 0.0, 0.0, 0.0, 40.0, 40.0])).splitlines()[0]
    assert (
        slower
        == "For these pages none is faster than local DoUDP beyond noise. Slower: 198.18.4.1 DoH3, 198.18.5.1 DoQ."
    )
    assert shown([one for one in jittered() if one.visit.round < 2]).startswith("Too few to tell: 198.18.1.1 DoUDP")
    gone = [load_of(one.visit, None, PageFailure.LEFT_ALONE) for one in jittered()]
    assert shown(gone).startswith("No load came through")
    alone = [one for one in jittered() if one.visit.configuration == SIX[3]]
    assert "198.18.3.1 DoH alone loaded pages" in shown(alone)


def test_words_of_others_do_not_command_the_terminal() -> None:
    out = io.StringIO()
    found = screen(summaries(SIX, jittered()), ["https://a.test/\x1b[31m", "https://b.test/"], SIX[0], 120)
    Console(file=out, width=120, force_terminal=False).print(found)
    assert "\x1b" not in out.getvalue()


def test_objects_are_json_without_infinities() -> None:
    loads = with_failures(jittered())
    rows = [objects.load(one) for one in loads] + [objects.summary(one) for one in summaries(SIX, loads)]
    read = [json.loads(json.dumps(row, allow_nan=False)) for row in rows]
    first, last = read[90], read[-1]
    assert (first["record"], first["place"], first["verdict"]) == ("visit_summary", 1, "faster")
    assert (first["resolver"], first["dns_transport"]) == ("198.18.1.1", "doudp")
    assert first["difference_ms"] == pytest.approx(-30, abs=8)
    assert first["difference_pairs_count"] == 11
    assert last["resolver_url"] == "tls://198.18.2.1"
    assert last["page_median_plt_ms"]["https://b.test/"] is None, "beyond its limit"
    assert read[0]["record"] == "visit_load"


def test_what_is_about_to_be_is_told_to_programs() -> None:
    begun = objects.announce_visit(VisitExtent(3, 6, 4), seed=1, browser="firefox", baseline=SIX[0], pages=PAGES)
    assert begun["total_count"] == 72
    assert begun["baseline"] == {"resolver": "local", "dns_transport": "doudp", "resolver_url": "system"}


def test_progress_tells_what_is_left() -> None:
    progress = VisitProgress(72, Console(file=io.StringIO()))
    for one in with_failures(jittered())[:18]:
        progress.take(one)
    assert progress.line(36.0) == "18/72 loads, 1 failed, ETA 1 min 48 s"
