"""The report's section of a plan's own software."""

import csv
from pathlib import Path

import msgspec
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.records import SoftwareRecord
from resolab.report import build_report
from resolab.store import find_finished_trials, load_manifest, save_manifest
from resolab.store.manifest import ProcessStart, SoftwareEntry

SOFTWARE = '[software.mine]\ncommand = ["/bin/mine"]\ntransports = ["doudp", "doh", "doq"]\n'
TEXT = PLAN_TEXT.replace("[factors]", '[factors]\nresolver_software = ["mine"]', 1)
ENTRY = SoftwareEntry(
    program="/bin/mine",
    program_sha256="c0ffee" * 8,
    version="mine <1.0>",
    cache="warm",
    transports=[],
    configuration="",
)


def add_records(folder: Path) -> None:
    """Give each trial a record of the software; the first trial has its end."""
    for number, file in enumerate(find_finished_trials(folder).values()):
        record = SoftwareRecord(
            name="mine", restarts_count=int(number > 0), processor_time_ns=2_500_000 if number else None,
            memory_bytes=3 << 20, last_words=None if number else ["up", "fatal: <luck>"],
        )  # fmt: skip
        lines = file.read_bytes().splitlines()
        file.write_bytes(b"\n".join([*lines[:-1], msgspec.json.encode(record), lines[-1]]) + b"\n")


def test_programs_their_work_and_their_ends_are_in_the_report(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", make_plan(TEXT + SOFTWARE))
    add_records(folder)
    start = ProcessStart(unix_ns=1, software={"mine": ENTRY})
    save_manifest(folder, msgspec.structs.replace(load_manifest(folder), starts=[start]))
    report = build_report(folder)
    page = report.read_text("utf-8")
    section = page[page.index('<section id="software">') :].partition("</section>")[0]
    assert "/bin/mine (c0ffeec0ffee)" in section
    assert "mine &lt;1.0&gt;" in section
    assert "fatal: &lt;luck&gt;" in section
    with (report.parent / "figures" / "software.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"mine"}
    assert {float(row["processor_time_ns"]) for row in rows} == {2_500_000}
    assert sum(int(row["ends_count"]) for row in rows) == 1
    assert sum(int(row["trials_count"]) for row in rows) == len(find_finished_trials(folder))


def test_a_plan_without_own_software_has_no_such_section(tmp_path: Path) -> None:
    page = build_report(make_dataset(tmp_path / "d")).read_text("utf-8")
    assert 'id="software"' not in page
