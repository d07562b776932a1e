import re
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.basics.records import PageFailure
from resolab.report import build_report
from resolab.report.findings.analysis import analyse
from resolab.store import build_tables, open_dataset
from resolab.studies.h20.load_status import _STATUSES, H20Status, h20_status
from resolab.studies.h20.statuses import status_table


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (None, "Successful"),
        ("page_timeout", "Page-load Timeout"),
        ("dns", "DNS Error"),
        ("connect", "Other Error"),
        ("tls", "Other Error"),
        ("http_status", "Successful"),
        ("browser_crash", "Selenium Error"),
        ("browser_hang", "Selenium Error"),
        ("driver", "Selenium Error"),
        ("no_measured_load", "Selenium Error"),
        ("other", "Other Error"),
        ("a class of later", "Other Error"),
    ],
)
def test_each_of_our_classes_is_one_of_theirs(failure: str | None, status: str) -> None:
    assert h20_status(failure) == status


def test_no_class_of_ours_is_forgotten() -> None:
    assert set(_STATUSES) == {*PageFailure, "no_measured_load"}
    assert len(H20Status) == 6


def test_the_table_counts_every_measured_load_once(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(timeouts=True))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        table = status_table(analyse(dataset))
        timeouts = dataset.sql(
            "SELECT t.profile, count(*) AS all_count, count(*) FILTER (failure = 'page_timeout') AS timed_out "
            "FROM page_loads JOIN trials AS t USING (trial_id) "
            "WHERE measured AND t.dns_transport = 'doq' GROUP BY ALL ORDER BY t.profile"
        )
    assert table.columns == ("browser", "profile", "transport", "loads", *H20Status)
    doq = {row[1]: row for row in table.rows if row[2] == "DoQ"}
    for one in timeouts:
        share = one["timed_out"] / one["all_count"]
        assert doq[one["profile"]][3:6] == (str(one["all_count"]), f"{1 - share:.2%}", f"{share:.2%}")
        assert one["timed_out"] > 0
    assert {row[4] for row in table.rows if row[2] == "DoH"} == {"100.00%"}


def test_the_report_names_their_status_beside_ours_and_only_of_page_loads(tmp_path: Path) -> None:
    plan = make_plan(PLAN_TEXT.replace('["fiber", "4g"]', '["default-h20"]'))
    page = build_report(make_dataset(tmp_path / "d", plan, Faults(timeouts=True))).read_text()
    rows = [re.findall(r">([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    named = {(row[0], row[1]): row[2] for row in rows if len(row) == 6}
    assert named["page load", "page_timeout"] == "Page-load Timeout"
    assert named["measured query over doq", "query_timeout"] == ""
    assert "Status of page loads, as in Hounsel et al." in page


def test_on_networks_that_are_not_theirs_there_is_no_such_table(tmp_path: Path) -> None:
    page = build_report(make_dataset(tmp_path / "d", faults=Faults(timeouts=True))).read_text()
    assert "Status of page loads" not in page


def test_without_a_failed_load_there_is_no_such_table(tmp_path: Path) -> None:
    page = build_report(make_dataset(tmp_path / "d", faults=Faults(trials_count=12))).read_text()
    assert "Status of page loads" not in page
