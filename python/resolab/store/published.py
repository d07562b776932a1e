"""A dataset as a published folder: its tables, plan and manifest, without its trial files.

For: the only writer of such a folder. Not for: the report's words and figures in it (`scripts/publish`), or opening it
(`folder.is_published`, `dataset`).
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import duckdb

from resolab.basics.installation import checkout
from resolab.store.columns import TABLES, data_dictionary
from resolab.store.dataset import open_dataset
from resolab.store.files import escape_for_duckdb
from resolab.store.folder import CALIBRATION, MANIFEST, MANIFESTS, PLAN, README
from resolab.store.folder import TABLES as TABLES_FOLDER
from resolab.store.manifest import load_manifest
from resolab.store.readme import published_readme
from resolab.store.tables import ensure_tables

# A table is published once and read for years: the writer takes ten times as long for a tenth less. Encodings of
# Parquet 1, as every reader has them, are smaller here than those of Parquet 2.
_OPTIONS = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 19"


def write_published(folder: Path, out: Path) -> None:
    """Write all tables of a dataset into an empty folder, with everything else that a report is made of."""
    (out / TABLES_FOLDER).mkdir(parents=True)
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        tables = [table for table in TABLES if table not in dataset.missing_tables]
        for table in tables:
            source = escape_for_duckdb(folder / TABLES_FOLDER / f"{table}.parquet")
            write_table(dataset.connection.read_parquet(source), out / TABLES_FOLDER / f"{table}.parquet")
    for name in (MANIFEST, PLAN, CALIBRATION):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, out / name)
    manifest = (out / MANIFEST).read_text("utf-8")
    (out / MANIFEST).write_text(shorten_places(manifest, folder), "utf-8")
    if (folder / MANIFESTS).is_dir():
        shutil.copytree(folder / MANIFESTS, out / MANIFESTS)
    (out / TABLES_FOLDER / "README.md").write_text(data_dictionary(tables), "utf-8")
    describe_published(out, tables)


def shorten_places(text: str, folder: Path) -> str:
    """Write paths below the checkout without the checkout's place, and the dataset's folder as its name."""
    text = text.replace(str(folder.absolute()), folder.name)
    root = checkout()
    return text if root is None else text.replace(f"{root}/", "")


def write_table(rows: duckdb.DuckDBPyRelation, file: Path) -> None:
    """Write rows in their order, as small as zstd makes them; the rows of a trial stay together."""
    target = str(file).replace("'", "''")
    rows.query("rows", f"COPY (SELECT * FROM rows) TO '{target}' ({_OPTIONS})")  # noqa: S608 - a file's name


def describe_published(out: Path, tables: Iterable[str]) -> None:
    """Write the README of a published folder with these tables."""
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        files = {table: escape_for_duckdb(out / TABLES_FOLDER / f"{table}.parquet") for table in tables}
        rows_count = {table: len(connection.read_parquet(file)) for table, file in files.items()}
    (out / README).write_text(published_readme(load_manifest(out), rows_count), "utf-8")
