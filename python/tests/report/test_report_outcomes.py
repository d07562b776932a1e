"""Outcomes other than the page load time: the sum beside it, and the section that a reader can open."""

import re
from pathlib import Path

import msgspec
from synthetic_dataset import LCP_BEFORE_LOAD_MS, RTT_MS, Faults, make_dataset, make_plan

from resolab.basics.records import PageLoadRecord
from resolab.report import build_report
from resolab.report.findings.oracle import Oracle
from resolab.report.findings.outcome_pairs import compare_outcomes
from resolab.report.findings.page_loads import condition_results
from resolab.report.plots import estimate_text
from resolab.store import read_trial
from resolab.store.outcomes import OUTCOMES, PLT, PLT_SUM
from resolab.store.rows import LoadRow

PLAN = make_plan()
BASE, DOH = "example.4g.doudp.h3.full", "example.4g.doh.h3.full"


def load(block: int, condition: str, plt_ms: float | None, plt_sum_ms: float | None, failure: str | None = None):
    page, profile, transport, version, mode = condition.split(".")
    return LoadRow(
        trial_id=f"b{block}", block=block, condition=condition, page=page, profile=profile, dns_transport=transport,
        http_version=version, requested_handshake_mode=mode, resolver_path="native", loaded=True, handshake_mode=mode,
        limit_ms=30_000.0, failure=failure,
        times_ms=dict.fromkeys(OUTCOMES) | {"plt": plt_ms, "plt_sum": plt_sum_ms},
    )  # fmt: skip


def sums(loads: list[LoadRow]):
    return {
        one.condition.id: one for one in condition_results(PLAN, loads, Oracle(PLAN, RTT_MS), PLT_SUM) if one.told_count
    }


def test_both_times_stand_beside_each_other_with_their_difference_within_loads() -> None:
    loads = [load(block, BASE, 100.0 + block, 110.0 + 3 * block) for block in range(5)]
    within = compare_outcomes(PLAN, loads, PLT_SUM, PLT)[BASE]
    assert (within.other_ms.value, sums(loads)[BASE].median_ms.value, within.difference_ms.value) == (102, 116, 14)
    assert sums(loads)[BASE].comparison is None


def test_the_change_is_of_sums_against_sums() -> None:
    loads = [load(block, BASE, 100.0, 200.0) for block in range(4)]
    loads += [load(block, DOH, 400.0, 250.0) for block in range(4)]
    assert sums(loads)[DOH].comparison.change.value == 0.25


def test_failed_loads_are_at_least_their_limit_and_those_lost_to_the_instrument_are_left_out() -> None:
    loads = [load(0, BASE, 100.0, 110.0), *(load(block, BASE, None, None, "page_timeout") for block in (1, 2))]
    loads.append(load(3, BASE, None, None, "driver"))
    one, within = sums(loads)[BASE], compare_outcomes(PLAN, loads, PLT_SUM, PLT)[BASE]
    assert (one.median_ms.n, one.median_ms.low, within.difference_ms.n) == (3, 30_000.0, 1)
    assert estimate_text(one.median_ms) == "≥ 30000.0"


def test_loads_without_a_sum_say_nothing_about_it() -> None:
    assert sums([load(0, BASE, 100.0, None), load(1, BASE, None, None, "dns")]) == {}
    loads = [load(0, BASE, 100.0, None), load(1, BASE, 50.0, 60.0)]
    within = compare_outcomes(PLAN, loads, PLT_SUM, PLT)[BASE]
    assert (within.other_ms.value, within.other_ms.n, sums(loads)[BASE].median_ms.value) == (50, 1, 60)


def test_the_report_has_the_section_only_where_there_are_sums(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=24))
    assert 'id="plt-sum"' not in build_report(folder).read_text()
    for file in (folder / "trials").glob("*.jsonl"):
        records = [_with_sum(record) for record in read_trial(file)]
        file.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    page = build_report(folder).read_text()
    section = page.partition('<section id="plt-sum">')[2].partition("</section>")[0]
    assert "+1000.0" in section
    assert "+1000.0" not in page.replace(section, "")


def _with_sum(record):
    if isinstance(record, PageLoadRecord) and record.plt_ms is not None:
        return msgspec.structs.replace(record, plt_sum_ms=record.plt_ms + 1000)
    return record


def test_the_report_shows_what_there_is_of_every_other_outcome(tmp_path: Path) -> None:
    page = build_report(make_dataset(tmp_path / "d", faults=Faults(paints=True)))
    section = page.read_text().partition('<section id="outcomes">')[2].partition("</section>")[0]
    opened = re.findall(r"<summary>(\w+):", section)
    assert opened == ["responseStart", "LCP"]  # the made-up loads tell no FCP
    figures = {file.name for file in (page.parent / "figures").iterdir()}
    for name in ("response_start", "lcp"):
        assert {f"{name}_change.csv", f"{name}_difference.svg"} <= figures
        assert f'id="{name}_change"' in section
    assert "median LCP ms" in section
    assert "paired difference of LCP, ms" in section
    assert "change of median PLT" not in section


def test_an_outcome_has_its_own_numbers(tmp_path: Path) -> None:
    page = build_report(make_dataset(tmp_path / "d", faults=Faults(paints=True))).read_text()
    plt, lcp = (_medians(page, head) for head in ("median PLT ms", "median LCP ms"))
    assert len(plt) == len(lcp) == 24
    # Four of five loads paint, so medians of the two are of different loads.
    assert all(abs(one - other - LCP_BEFORE_LOAD_MS) < 20 for one, other in zip(plt, lcp, strict=True))
    assert plt != lcp


def _medians(page: str, head: str) -> list[float]:
    table = next(one for one in re.findall(r"<table>(.*?)</table>", page, re.DOTALL) if f">{head}<" in one)
    place = re.findall(r"<th[^>]*>([^<]*)</th>", table).index(head)
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    return [float(row[place].split()[0]) for row in rows if row]
