import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from synthetic_dataset import Faults, make_dataset

from resolab.basics.errors import UsageError
from resolab.cli.main import main
from resolab.store import ExportFormat, build_tables, ensure_tables, export_tables, find_finished_trials, open_dataset
from resolab.store.columns import SINCE, TABLES, list_columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_dataset(tmp_path_factory.mktemp("export") / "d'x", faults=Faults(timeouts=True, trials_count=12))
    build_tables(made)
    return made


def read_back(file: Path, table: str) -> duckdb.DuckDBPyRelation:
    """Read a CSV as its data dictionary says: lists are JSON text, an empty field is null."""
    columns = list_columns(table)
    types = {one.name: "VARCHAR" if one.duckdb_type.endswith("[]") else one.duckdb_type for one in columns}
    relation = duckdb.read_csv(str(file), columns=types, header=True, allow_quoted_nulls=False)
    listed = (
        f'from_json("{one.name}", \'["{one.duckdb_type[:-2]}"]\') AS "{one.name}"'
        if one.duckdb_type.endswith("[]")
        else f'"{one.name}"'
        for one in columns
    )
    return relation.project(", ".join(listed))


def test_every_row_comes_back_from_csv(folder: Path, tmp_path: Path) -> None:
    files = export_tables(folder, tmp_path / "out")
    assert [file.name for file in files] == [*(f"{table}.csv" for table in TABLES), "data_dictionary.md"]
    with open_dataset(folder) as dataset:
        for table in TABLES:
            rows = [tuple(row.values()) for row in dataset.sql(f"SELECT * FROM {table}")]
            assert read_back(tmp_path / "out" / f"{table}.csv", table).fetchall() == rows
            assert rows or table in SINCE


def test_empty_text_and_null_stay_apart(folder: Path, tmp_path: Path) -> None:
    with open_dataset(folder) as dataset:
        dataset.connection.execute("CREATE OR REPLACE TABLE edited AS SELECT * FROM queries LIMIT 3")
        dataset.connection.execute(
            "UPDATE edited SET rcode = '', failure_detail = 'a \"quoted\", two\nlines', answers = []"
        )
        dataset.connection.execute("CREATE OR REPLACE VIEW queries AS SELECT * FROM edited")
        from resolab.store.export import _export

        file = _export(dataset.connection, "queries", tmp_path, ExportFormat.CSV)
        assert read_back(file, "queries").fetchall() == dataset.connection.execute("FROM edited").fetchall()


def test_parquet_and_single_tables(folder: Path, tmp_path: Path) -> None:
    files = export_tables(folder, tmp_path, file_format=ExportFormat.PARQUET, tables=["queries"])
    assert [file.name for file in files] == ["queries.parquet", "data_dictionary.md"]
    (rows,) = duckdb.sql(f"SELECT count(*) FROM '{files[0]}'").fetchall()[0]
    assert rows == 36
    with pytest.raises(UsageError, match="could not export table 'colours': there are trials, "):
        export_tables(folder, tmp_path, tables=["colours"])


def test_tables_are_made_when_missing_or_older_than_a_trial(tmp_path: Path) -> None:
    made = make_dataset(tmp_path / "d", faults=Faults(trials_count=2))
    assert main(["export", str(made), "--table", "trials"]) == 0
    assert len((made / "export" / "trials.csv").read_text().splitlines()) == 3
    before = (made / "tables").stat().st_ino
    assert ensure_tables(made).stat().st_ino == before
    next(iter(find_finished_trials(made).values())).touch()
    assert ensure_tables(made).stat().st_ino != before


def test_the_readme_says_what_the_dataset_is_and_its_sql_runs(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    for words in ("made-up-20240712T101500Z-7", "What do DoH and DoQ", "n: 12 of 144 trials in 6 blocks", "LICENSE"):
        assert words in text
    for table in TABLES:
        assert re.search(rf"^\| `{table}` \| \d+ \| \w", text, re.MULTILINE)
    statement = code(text, "sql")
    found = duckdb.sql(statement.replace("tables/", str(folder / "tables").replace("'", "''") + "/")).fetchall()
    assert found
    assert all(median > 0 and n > 0 for _, median, n in found)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_readmes_python_runs(folder: Path, library: str) -> None:
    if library == "polars":
        pytest.importorskip(library, reason="polars is no development package: it takes 175 MB")
    blocks = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    (script,) = (one for one in blocks if f"import {library}\n" in one)
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, check=False, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert "example.4g" in ran.stdout or "example.fiber" in ran.stdout


def test_every_table_opens_in_pandas_with_all_its_rows_and_columns(folder: Path) -> None:
    with open_dataset(folder) as dataset:
        for table in TABLES:
            frame = pd.read_parquet(folder / "tables" / f"{table}.parquet")
            (row,) = dataset.sql(f"SELECT count(*) AS count FROM {table}")
            assert len(frame) == row["count"]
            assert len(frame) > 0 or table in SINCE
            assert list(frame.columns) == [one.name for one in list_columns(table)]
        (queries,) = dataset.sql("SELECT sum(query_response_time_ns)::BIGINT AS sum FROM queries")
    read = pd.read_parquet(folder / "tables" / "queries.parquet")
    assert int(read["query_response_time_ns"].sum()) == queries["sum"]


def code(text: str, language: str) -> str:
    return text.partition(f"```{language}\n")[2].partition("```")[0].strip().rstrip(";")
