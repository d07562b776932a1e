"""A published dataset: tables without trial files, which every command reads or refuses in one line."""

import json
import shutil
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.cli.main import main
from resolab.plan.corpus import PROJECT_ROOT
from resolab.report import make_report
from resolab.store import build_tables, ensure_tables, export_tables, find_finished_trials, load_manifest, open_dataset
from resolab.store.columns import TABLES
from resolab.store.published import describe_published, shorten_places, write_published
from resolab.store.recorded import records_of_trials

SMALL = (
    PLAN_TEXT.replace("blocks = 6", "blocks = 2")
    .replace('page = ["example", "wikipedia"]', 'page = ["example"]')
    .replace('profile = ["fiber", "4g"]', 'profile = ["fiber"]')
)
OLD = ("trials", "page_loads", "queries")
"""The tables of the folders published first."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_dataset(tmp_path_factory.mktemp("whole") / "d", make_plan(SMALL))
    build_tables(folder)
    return folder


@pytest.fixture(scope="module")
def whole(dataset: Path) -> Path:
    """The dataset, published."""
    write_published(dataset, dataset.parent / "published")
    return dataset.parent / "published"


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "p"))


@pytest.fixture
def old(folder: Path) -> Path:
    """The published dataset with the tables that used to be published."""
    for table in TABLES:
        if table not in OLD:
            (folder / "tables" / f"{table}.parquet").unlink()
    describe_published(folder, OLD)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_published_folder_gives_the_report_of_its_dataset(dataset: Path, folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    theirs, ours = (make_report(one, tmp_path / name).page.parent for name, one in (("a", dataset), ("b", folder)))
    assert contents(ours) == contents(theirs)
    assert contents(folder) == before
    assert main(["report", str(folder)]) == 0
    assert {name for name in contents(folder) if not name.startswith("report/")} == set(before)


def test_a_published_folder_exports_the_rows_of_its_dataset(dataset: Path, folder: Path, tmp_path: Path) -> None:
    export_tables(dataset, tmp_path / "a")
    export_tables(folder, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert not (folder / "trials").exists()


def test_records_come_back_from_tables(dataset: Path, folder: Path) -> None:
    tables = ["page_loads", "requests", "queries", "edge_requests", "connections", "path_summaries"]
    kinds = tuple(TABLES[table] for table in tables)
    pairs = zip(records_of_trials(dataset, tables), records_of_trials(folder, tables), strict=True)
    for own, published in pairs:
        assert (own[0], own[-1]) == (published[0], published[-1])
        for kind in kinds:
            assert [one for one in own if isinstance(one, kind)] == [one for one in published if isinstance(one, kind)]


def test_the_readme_names_tables_that_are_there_and_those_that_are_not(whole: Path, old: Path) -> None:
    assert "it lacks" not in (whole / "README.md").read_text()
    assert "| `connections` |" in (whole / "README.md").read_text()
    text = (old / "README.md").read_text()
    assert "it lacks `requests`, `edge_queries`" in text
    assert "| `connections` |" not in text
    assert "trials/*.jsonl" not in text


def test_a_missing_table_has_a_line_in_place_of_its_parts(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(old)]) == 0
    capsys.readouterr()
    page = " ".join((old / "report" / "index.html").read_text().split())
    for line in (
        "Hellos, and failed connections at the edge: left out, as this published folder has no table connections.",
        "The instrument&#39;s own error: left out, as this published folder has no table path_summaries.",
        "packets dropped by the link: not known, as there is no table path_summaries",
    ):
        assert line in page
    for claim in ("No window of the path was recorded", "Packets lost by the instrument: 0", "link's queues: none"):
        assert claim not in page


def test_queries_that_were_not_published_are_not_queries_that_were_not_made(old: Path) -> None:
    (old / "tables" / "queries.parquet").unlink()
    page = make_report(old).page.read_text()
    assert "Cold DNS exchanges: left out, as this published folder has no table queries." in page
    assert "Failures and handshakes of DNS queries: left out" in page
    exchanges = page.partition('<section id="dns">')[2].partition("</section>")[0]
    assert "no finished trial holds these measurements" not in exchanges


@pytest.mark.parametrize(("version", "recorded"), [("1.7", False), ("1.8", True), ("1.21", True)])
def test_hellos_of_a_missing_table_were_recorded_from_their_format_on(old: Path, version: str, recorded: bool) -> None:
    # They give the closed form its bytes, so the absence of their table must not move its numbers.
    manifest = json.loads((old / "manifest.json").read_text()) | {"format_version": version}
    (old / "manifest.json").write_text(json.dumps(manifest))
    with open_dataset(old) as opened:
        assert opened.has_hellos() is recorded


def test_kept_numbers_of_a_missing_part_are_named(old: Path) -> None:
    (old / "as_published.html").write_text('<section id="instrument"></section><section id="calibration"></section>')
    page = make_report(old).page.read_text()
    assert "path_summaries. As published: as_published.html, section instrument." in page
    assert "The link, calibrated: left out, as this published folder has no calibration.jsonl." in page


def test_only_tables_that_are_there_are_exported(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(old), "-o", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert {file.stem for file in (tmp_path / "out").glob("*.csv")} == set(OLD)
    assert told.err.startswith("not in this published folder: requests, edge_queries, ")
    assert main(["export", str(old), "--table", "flows", "-o", str(tmp_path / "other")]) == 3
    assert "this published folder has no table flows; it has trials, page_loads, queries" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_two_published_folders_are_compared(old: Path, whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for other in (old, whole):
        assert main(["compare", str(old), str(other), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        lateness = [one for one in found["ground"] if "lateness" in json.dumps(one)]
        assert "not published: no table path_summaries" in json.dumps(lateness)


def test_a_published_folder_is_a_pilot(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "power", str(old / "plan.toml"), "--from", str(old), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["comparisons"]) == 5


NEEDS_TRIALS = {
    "resume": ["resume", "{}"],
    "waterfall": ["waterfall", "{}"],
    "har": ["har", "{}"],
    "evidence": ["evidence", "{}", "b000-t000"],
    "merge": ["merge", "{}-merged", "{}", "{}-other"],
    "calibrate": ["calibrate", "fiber", "--dataset", "{}"],
}


@pytest.mark.parametrize("command", NEEDS_TRIALS)
def test_a_command_in_need_of_trials_says_so(
    whole: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(whole, tmp_path / "p")
    other = shutil.copytree(whole, tmp_path / "p-other")
    manifest = json.loads((other / "manifest.json").read_text()) | {"dataset_id": "other"}
    (other / "manifest.json").write_text(json.dumps(manifest))
    before = contents(folder)
    assert main([word.format(folder) for word in NEEDS_TRIALS[command]]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "it is a published dataset, its tables without its trial files; run its plan for new trials" in error
    assert contents(folder) == before


def test_critical_paths_of_a_folder_without_requests_are_refused(old: Path) -> None:
    with pytest.raises(ConfigurationError, match="this published folder has no table requests; run its plan"):
        next(records_of_trials(old, ["page_loads", "requests"]))


def test_tables_with_fewer_trials_than_the_manifest_are_refused(dataset: Path, tmp_path: Path) -> None:
    # A dataset whose folder of trials was lost has the tables of its last report: they may be of an earlier state.
    folder = Path(shutil.copytree(dataset, tmp_path / "d"))
    next(iter(find_finished_trials(folder).values())).unlink()
    build_tables(folder)
    shutil.rmtree(folder / "trials")
    counted = load_manifest(folder).trials_finished_count
    with pytest.raises(ConfigurationError, match=f"its tables hold {counted - 1} trials and its manifest counts"):
        ensure_tables(folder)


def test_a_dataset_with_its_trials_lacks_no_table(dataset: Path, old: Path) -> None:
    for folder, missing in ((dataset, 0), (old, len(TABLES) - len(OLD))):
        with open_dataset(folder) as opened:
            assert len(opened.missing_tables) == missing


def test_a_place_without_writing_is_named_with_the_way_out(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["report", str(whole), "-o", str(tmp_path / "file" / "report")]) == 4
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "name another place with --output" in error


def test_a_report_elsewhere_replaces_only_a_report(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert main(["report", str(whole), "-o", str(out)]) == 0
    assert (out / "index.html").is_file()
    assert not (whole / "report").exists()
    (out / "mine.txt").touch()
    capsys.readouterr()
    assert main(["report", str(whole), "-o", str(out)]) == 3
    assert "it holds something other than a report; give a new folder" in capsys.readouterr().err
    assert (out / "mine.txt").is_file()


def test_a_published_manifest_names_no_place_of_its_machine(dataset: Path) -> None:
    program = PROJECT_ROOT / ".setup" / "bin" / "coredns"
    text = f'{{"path": "{program}", "command_line": ["--out", "{dataset.absolute()}"], "other": "/usr/sbin/unbound"}}'
    told = json.loads(shorten_places(text, dataset))
    assert told == {"path": ".setup/bin/coredns", "command_line": ["--out", dataset.name], "other": "/usr/sbin/unbound"}
