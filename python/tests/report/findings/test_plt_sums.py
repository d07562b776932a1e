from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import Faults, make_dataset, make_plan

from resolab.plots import estimate_text
from resolab.records import PageLoadRecord
from resolab.report import build_report
from resolab.report.findings.plt_sums import plt_sum_results
from resolab.store import read_trial
from resolab.store.rows import LoadRow

PLAN = make_plan()
BASE, DOH = "example.4g.doudp.h3.full", "example.4g.doh.h3.full"


def load(block: int, condition: str, plt_ms: float | None, plt_sum_ms: float | None, failure: str | None = None):
    page, profile, transport, version, mode = condition.split(".")
    return LoadRow(
        trial_id=f"b{block}", block=block, condition=condition, page=page, profile=profile, dns_transport=transport,
        http_version=version, requested_handshake_mode=mode, resolver_path="native", loaded=True, handshake_mode=mode,
        plt_ms=plt_ms, response_start_ms=None, limit_ms=30_000.0, failure=failure, plt_sum_ms=plt_sum_ms,
    )  # fmt: skip


def test_both_times_stand_beside_each_other_with_their_difference_within_loads() -> None:
    loads = [load(block, BASE, 100.0 + block, 110.0 + 3 * block) for block in range(5)]
    (one,) = plt_sum_results(PLAN, loads)
    assert (one.plt_ms.value, one.plt_sum_ms.value, one.difference_ms.value) == (102, 116, 14)
    assert one.change is None


def test_the_change_is_of_sums_against_sums() -> None:
    loads = [load(block, BASE, 100.0, 200.0) for block in range(4)]
    loads += [load(block, DOH, 400.0, 250.0) for block in range(4)]
    changes = {one.condition.id: one.change for one in plt_sum_results(PLAN, loads)}
    assert changes[BASE] is None
    assert changes[DOH] is not None
    assert changes[DOH].value == pytest.approx(0.25)


def test_failed_loads_are_at_least_their_limit_and_those_lost_to_the_instrument_are_left_out() -> None:
    loads = [load(0, BASE, 100.0, 110.0), *(load(block, BASE, None, None, "page_timeout") for block in (1, 2))]
    (one,) = plt_sum_results(PLAN, [*loads, load(3, BASE, None, None, "driver")])
    assert (one.plt_sum_ms.n, one.plt_sum_ms.low, one.difference_ms.n) == (3, 30_000.0, 1)
    assert estimate_text(one.plt_sum_ms) == "≥ 30000.0"


def test_loads_without_a_sum_say_nothing_about_it() -> None:
    assert plt_sum_results(PLAN, [load(0, BASE, 100.0, None), load(1, BASE, None, None, "dns")]) == []
    (one,) = plt_sum_results(PLAN, [load(0, BASE, 100.0, None), load(1, BASE, 50.0, 60.0)])
    assert (one.plt_ms.value, one.plt_ms.n, one.plt_sum_ms.value) == (50, 1, 60)


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
