"""What is broken, foreign or old is refused in one line or read as what it means; never a silently wrong number."""

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import msgspec
import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import FORMAT_VERSION
from resolab.cli.main import main
from resolab.report import build_report
from resolab.store import build_tables, find_finished_trials, open_dataset
from resolab.store.columns import REQUIRED, list_columns

SMALL = (
    PLAN_TEXT.replace("blocks = 6", "blocks = 2")
    .replace('page = ["example", "wikipedia"]', 'page = ["example"]')
    .replace('profile = ["fiber", "4g"]', 'profile = ["fiber"]')
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_dataset(tmp_path_factory.mktemp("whole") / "d", make_plan(SMALL))
    build_tables(folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "d"))


def first_trial(folder: Path) -> Path:
    return next(iter(find_finished_trials(folder).values()))


def cut(file: Path, keep: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * keep)])


BROKEN_TRIALS: dict[str, Callable[[Path], object]] = {
    r"line \d+: .*; if the file was cut or damaged, remove it": lambda file: cut(file, 0.9),
    "lacks its first or last line; remove it": lambda file: file.write_bytes(b""),
    "line 1: .*remove it": lambda file: file.write_bytes(b"\xff\xfe\x00" * 100),
    "its format is 2.0": lambda file: file.write_bytes(file.read_bytes().replace(FORMAT_VERSION.encode(), b"2.0", 1)),
    "it is the file of trial b000-t000, copied or renamed": lambda file: shutil.copyfile(
        file, file.with_name("b000-t099.jsonl")
    ),
}


@pytest.mark.parametrize("problem", BROKEN_TRIALS)
def test_a_broken_trial_file_ends_the_report_in_one_line(folder: Path, problem: str, capsys) -> None:
    BROKEN_TRIALS[problem](first_trial(folder))
    with pytest.raises(ConfigurationError, match=problem):
        build_report(folder)
    assert main(["report", str(folder)]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(folder / "trials") in error
    # The tables of before are still whole.
    with open_dataset(folder) as dataset:
        assert len(dataset.measured_loads()) == 12


def test_tables_without_their_trials_are_kept_and_read(folder: Path, tmp_path: Path) -> None:
    for file in find_finished_trials(folder).values():
        file.unlink()
    with pytest.raises(ConfigurationError, match="none of the 12 trials that its manifest counts is there"):
        build_report(folder)
    assert main(["export", str(folder), "-o", str(tmp_path / "out")]) == 0
    assert len((tmp_path / "out" / "trials.csv").read_text().splitlines()) == 13


def test_a_trial_the_plan_does_not_have_is_not_left_out_in_silence(folder: Path) -> None:
    file = first_trial(folder)
    lines = file.read_bytes().splitlines(keepends=True)
    head = msgspec.json.decode(lines[0]) | {"condition": "example.fiber.doudp.h3.unknown"}
    file.write_bytes(b"".join([msgspec.json.encode(head) + b"\n", *lines[1:]]))
    with pytest.raises(
        ConfigurationError, match=r"has no condition example\.fiber\.doudp\.h3\.unknown, of which it has"
    ):
        build_report(folder)


def foreign(file: Path) -> None:
    duckdb.sql("SELECT 1 AS a, 'x' AS b").write_parquet(str(file))


def retyped(file: Path) -> None:
    changed = duckdb.sql(f"SELECT * REPLACE (sequence::VARCHAR AS sequence) FROM '{file}'").fetchall()
    assert changed
    relation = duckdb.sql(f"SELECT * REPLACE (sequence::VARCHAR AS sequence) FROM '{file}'")
    relation.write_parquet(str(file) + ".new")
    Path(str(file) + ".new").replace(file)


BROKEN_TABLES: dict[str, Callable[[Path], object]] = {
    "no table queries; make them with `resolab report": lambda file: file.unlink(),
    "it has no column 'trial_id', so it is no table of resolab": foreign,
    "its column 'sequence' is VARCHAR, not BIGINT": retyped,
    "failed to read the tables of .* make the tables anew with": lambda file: file.write_bytes(b""),
    "failed to read the tables of .* make the tables anew": lambda file: cut(file, 0.5),
}


@pytest.mark.parametrize("problem", BROKEN_TABLES)
def test_a_broken_table_is_refused_in_one_line_and_made_anew_by_a_report(folder: Path, problem: str) -> None:
    BROKEN_TABLES[problem](folder / "tables" / "queries.parquet")
    with pytest.raises(ConfigurationError, match=problem) as refused:
        open_dataset(folder)
    assert "\n" not in str(refused.value)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        assert len(dataset.cold_exchanges()) == 36


def test_damage_inside_a_table_is_found_when_it_is_read(folder: Path) -> None:
    file = folder / "tables" / "queries.parquet"
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 3] = bytes(len(content) // 3 - 4)
    file.write_bytes(content)
    with open_dataset(folder) as dataset:
        with pytest.raises(ConfigurationError, match="failed to read the tables of"):
            dataset.cold_exchanges()
        with pytest.raises(ConfigurationError, match="failed to read the tables of"):
            dataset.query_distributions(["profile"])


def test_a_trial_that_stands_twice_or_is_missing_is_refused(folder: Path) -> None:
    file = folder / "tables" / "trials.parquet"
    rows = f"FROM '{file}'"
    duckdb.sql(f"{rows} UNION ALL ({rows} LIMIT 1)").write_parquet(str(file) + ".new")
    twice = Path(str(file) + ".new").read_bytes()
    duckdb.sql(f"{rows} OFFSET 1").write_parquet(str(file) + ".new")
    one_less = Path(str(file) + ".new").read_bytes()
    file.write_bytes(twice)
    with pytest.raises(ConfigurationError, match="stands in the table trials more than once"):
        open_dataset(folder)
    file.write_bytes(one_less)
    with open_dataset(folder) as dataset, pytest.raises(ConfigurationError, match="3 queries belong to no trial"):
        dataset.query_distributions(["profile"])


def test_a_second_trial_of_a_condition_in_one_block_is_refused(folder: Path) -> None:
    file = folder / "tables" / "trials.parquet"
    again = f"SELECT * REPLACE (trial_id || '-again' AS trial_id) FROM '{file}' LIMIT 1"
    duckdb.sql(f"FROM '{file}' UNION ALL ({again})").write_parquet(str(file) + ".new")
    file.write_bytes(Path(str(file) + ".new").read_bytes())
    with pytest.raises(ConfigurationError, match="b000-t000 is not the only one of its condition in block 0"):
        open_dataset(folder)


def test_tables_of_an_older_minor_version_are_read_as_what_they_meant(folder: Path) -> None:
    with open_dataset(folder) as dataset:
        loads, exchanges = dataset.measured_loads(), dataset.cold_exchanges()
        distributions = dataset.query_distributions(["profile", "dns_transport"])
    for table in ("trials", "page_loads", "requests", "queries"):
        file = folder / "tables" / f"{table}.parquet"
        newer = [one.name for one in list_columns(table) if one.default is not REQUIRED and _is_newer(table, one.name)]
        assert newer
        duckdb.sql(f"SELECT * EXCLUDE ({', '.join(newer)}) FROM '{file}'").write_parquet(str(file) + ".new")
        Path(str(file) + ".new").replace(file)
    with open_dataset(folder) as dataset:
        assert dataset.measured_loads() == loads
        assert dataset.cold_exchanges() == exchanges
        assert dataset.query_distributions(["profile", "dns_transport"]) == distributions
        assert dataset.query_distributions(["replicate", "resolver_cache", "browser_preset"])[0].key == {
            "replicate": "1",
            "resolver_cache": "hit",
            "browser_preset": "none",
        }
        row = dataset.sql("SELECT browser, resolver_extra_rtt_ms, doh_method FROM trials LIMIT 1")[0]
        assert row == {"browser": "chromium", "resolver_extra_rtt_ms": 0.0, "doh_method": None}


def test_tables_from_before_there_were_policers_have_no_drops_of_theirs(folder: Path) -> None:
    file = folder / "tables" / "path_summaries.parquet"
    gone = "up_dropped_policer_count, down_dropped_policer_count"
    duckdb.sql(f"SELECT * EXCLUDE ({gone}) FROM '{file}'").write_parquet(str(file) + ".new")
    Path(str(file) + ".new").replace(file)
    with open_dataset(folder) as dataset:
        assert {row.dropped_policer_count for row in dataset.lateness()} == {0}


def _is_newer(table: str, column: str) -> bool:
    """Columns of formats 1.5 and 1.6."""
    newer = {
        "trials": {"browser", "h3_discovery", "name_resolution", "doh_method", "replicate", "resolver_extra_rtt_ms",
                   "resolver_cache", "browser_preset"},
        "page_loads": {"console_errors", "foreign_names", "plt_sum_ms"},
        "requests": {"secure_connection_start_ms", "content_type"},
        "queries": {"group_sequence", "previous_connection_end", "outstanding_count"},
    }  # fmt: skip
    return column in newer[table]


BROKEN_MANIFESTS: dict[str, Callable[[Path], object]] = {
    "failed to read .*manifest.json: .*restore it": lambda file: file.write_bytes(b""),
    "failed to read .*manifest.json: .*restore": lambda file: cut(file, 0.5),
    "failed to read .*manifest.json": lambda file: file.write_bytes(b"\xff\x00\xfe"),
    "missing required field `seed`": lambda file: file.write_bytes(file.read_bytes().replace(b'"seed"', b'"sead"')),
    "its format is 2.0; this resolab reads": lambda file: file.write_bytes(
        file.read_bytes().replace(FORMAT_VERSION.encode(), b"2.0", 1)
    ),
    "there is no manifest.json|has no manifest.json": lambda file: file.unlink(),
}


@pytest.mark.parametrize("problem", BROKEN_MANIFESTS)
def test_an_unreadable_manifest_ends_in_one_line(folder: Path, problem: str, capsys) -> None:
    BROKEN_MANIFESTS[problem](folder / "manifest.json")
    for use in (build_tables, open_dataset):
        with pytest.raises(ConfigurationError, match=problem):
            use(folder)
    for command in (["report"], ["export"]):
        assert main([*command, str(folder)]) == 3
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("lines", [0, 1, slice(1, None)], ids=["empty", "its head alone", "without its head"])
@pytest.mark.parametrize("words", [["har"], ["evidence"], ["page", "show"]], ids=" ".join)
def test_a_trial_file_without_its_ends_is_one_line_to_every_reader(
    folder: Path, words: list[str], lines: int | slice, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk or a copy that was cut off leaves such files."""
    file = next(iter(find_finished_trials(folder).values()))
    kept = file.read_text().splitlines(keepends=True)
    file.write_text("".join(kept[lines] if isinstance(lines, slice) else kept[:lines]))
    target = [str(file)] if words == ["page", "show"] else [str(folder), file.stem, "-o", str(folder / "x")]
    code = main([*words, *target])
    said = capsys.readouterr().err
    if words == ["har"] and lines == 1:
        assert code == 0, "an archive needs no end"
        return
    assert code == 3
    assert str(file) in said
    assert said.count("\n") == 1
