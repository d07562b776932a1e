import re
from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import Faults, make_dataset

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import CalibrationRecord, DirectionProfile, LinkDirection, LinkProfile, PathBackend
from resolab.lab.calibration.verdict import judge_value, report_value
from resolab.report import build_report
from resolab.store import append_calibration, read_calibrations

UP, DOWN = LinkDirection.UP, LinkDirection.DOWN


def record(*checks, name="dsl", unix_ns=1_720_000_000_000_000_000):
    way = DirectionProfile(one_way_delay_ms=5.0)
    return CalibrationRecord(
        profile=LinkProfile(name=name, source="made up", up=way, down=way),
        backend=PathBackend.TUN,
        realtime_scheduling=True,
        keep_awake=True,
        rootless=False,
        seed=1,
        core_version="0.1.0",
        unix_ns=unix_ns,
        load_average=0.1,
        checks=list(checks),
    )


GOOD = judge_value("delay", UP, asked=5.0, got=5.05, tolerance=0.2, n=10)
WORSE = judge_value("delay", DOWN, asked=5.0, got=5.15, tolerance=0.2, n=10)
RATE = judge_value("rate", UP, asked=1e6, got=0.99e6, tolerance=100.0, n=10)
SHOWN = report_value("bulk", UP, asked=None, got=1e9, n=10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "d", faults=Faults(trials_count=2))


def section(folder: Path) -> str:
    html = build_report(folder).read_text()
    return html.partition('<section id="calibration">')[2].partition("</section>")[0]


def test_what_is_added_is_read_again(folder: Path) -> None:
    assert read_calibrations(folder) == []
    append_calibration(folder, record(GOOD))
    append_calibration(folder, record(RATE, SHOWN, name="4g"))
    assert read_calibrations(folder) == [record(GOOD), record(RATE, SHOWN, name="4g")]


def test_a_folder_without_a_dataset_gets_no_calibration(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=re.escape("manifest.json")):
        append_calibration(tmp_path, record(GOOD))


def test_a_broken_line_is_named(folder: Path) -> None:
    append_calibration(folder, record(GOOD))
    with (folder / "calibration.jsonl").open("ab") as stream:
        stream.write(b"{}\n")
    with pytest.raises(ConfigurationError, match="line 2"):
        read_calibrations(folder)


def test_a_dataset_without_one_has_no_section(folder: Path) -> None:
    assert section(folder) == ""


def test_the_worst_error_of_each_quantity_is_shown(folder: Path) -> None:
    append_calibration(folder, record(GOOD, WORSE, SHOWN))
    text = section(folder)
    assert "+0.15 (0.2)" in text
    assert "2024-07-03 09:46" in text
    assert "not judged" in text
    assert 'class="good"' in text


def test_failures_stand_out_with_the_newest_record_of_a_profile(folder: Path) -> None:
    append_calibration(folder, record(RATE, unix_ns=1))
    append_calibration(folder, record(GOOD, name="4g"))
    append_calibration(folder, msgspec.structs.replace(record(GOOD, RATE), unix_ns=2))
    text = section(folder)
    assert text.count("<tr>") == 3
    assert "-1 (0.01)" in text
    assert "rate up" in text
    assert "Quantities outside their tolerance: 1." in text
