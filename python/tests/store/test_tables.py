from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import Faults, make_dataset

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import PathSummaryRecord, QueryRecord, TrialRecord
from resolab.store import build_tables, ensure_tables, find_finished_trials, open_dataset, read_trial
from resolab.store.columns import SINCE, TABLES, list_columns, tables_of_format


def test_every_record_becomes_one_row(dataset_folder: Path) -> None:
    build_tables(dataset_folder)
    with open_dataset(dataset_folder) as dataset:
        counts = {table: dataset.sql(f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in TABLES}
    assert counts == {
        "trials": 144,
        "page_loads": 288,
        "requests": 144,
        "queries": 432,
        "edge_queries": 144,
        "edge_requests": 144,
        "connections": 144,
        "flows": 144,
        "path_summaries": 144,
        **dict.fromkeys(SINCE, 0),
    }


def test_values_arrive_unchanged_and_nested_shapes_are_flat(dataset_folder: Path) -> None:
    build_tables(dataset_folder)
    trial, file = next(iter(find_finished_trials(dataset_folder).items()))
    records = list(read_trial(file))
    query = next(one for one in records if isinstance(one, QueryRecord))
    path = next(one for one in records if isinstance(one, PathSummaryRecord))
    frame = next(one for one in records if isinstance(one, TrialRecord))
    with open_dataset(dataset_folder) as dataset:
        row = dataset.sql("SELECT * FROM queries WHERE trial_id = ? AND sequence = 0", [trial])[0]
        assert row["query_response_time_ns"] == query.query_response_time_ns
        assert row["addresses"] == query.addresses
        assert row["forwarded_for_answered_ns"] is None
        window = dataset.sql("SELECT * FROM path_summaries WHERE trial_id = ?", [trial])[0]
        assert window["down_lateness_p99_ns"] == path.down.lateness_p99_ns
        first = dataset.sql("SELECT * FROM trials WHERE trial_id = ?", [trial])[0]
        assert (first["condition"], first["wall_time_unix_ns"]) == (frame.condition, frame.wall_time_unix_ns)
        assert first["end_monotonic_ns"] == frame.monotonic_ns + 2_500_000_000


def test_the_look_up_is_counted_as_each_browser_means_it(dataset_folder: Path) -> None:
    for number, file in enumerate(find_finished_trials(dataset_folder).values()):
        lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
        loads = [line for line in lines if line["record"] == "page_load"]
        for line in loads:
            instants = {"fetch_start_ms": 1.0, "domain_lookup_start_ms": 90.0, "domain_lookup_end_ms": 95.5}
            line.update(instants, browser="firefox" if number % 2 else "chromium")
        loads[0]["domain_lookup_end_ms"] = None if number == 0 else 95.5
        file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
    build_tables(dataset_folder)
    with open_dataset(dataset_folder) as dataset:
        found = dataset.sql("SELECT DISTINCT browser, look_up_ms FROM page_loads ORDER BY ALL")
    assert [(row["browser"], row["look_up_ms"]) for row in found] == [
        ("chromium", 5.5), ("chromium", None), ("firefox", 94.5),
    ]  # fmt: skip


def test_column_types_do_not_depend_on_the_values(dataset_folder: Path) -> None:
    build_tables(dataset_folder)
    with open_dataset(dataset_folder) as dataset:
        for table in TABLES:
            found = {row["column_name"]: row["column_type"] for row in dataset.sql(f"DESCRIBE {table}")}
            assert found == {column.name: column.duckdb_type for column in list_columns(table)}


def test_every_column_is_described(dataset_folder: Path) -> None:
    text = (build_tables(dataset_folder) / "README.md").read_text()
    for table in TABLES:
        assert f"## {table}\n" in text
        for column in list_columns(table):
            assert column.description, f"{table}.{column.name}"
            assert f"| `{column.name}` | {column.duckdb_type} | {column.description} |" in text


def test_trials_of_older_formats_are_read_as_what_they_were(dataset_folder: Path) -> None:
    names = {"browser", "h3_discovery", "name_resolution", "doh_method", "requested_dns_handshake_mode"}
    of_load = {"dns_failure", "foreign_names", "plt_sum_ms", "console_errors", "ticket_state", "dns_handshake_mode"}
    for file in find_finished_trials(dataset_folder).values():
        lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
        for line in lines:
            own = {"trial": names, "page_load": of_load}.get(line["record"], set()) | {"dns_connection_state"}
            for name in own:
                line.pop(name, None)
        lines[0]["format_version"] = "1.0"
        file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    build_tables(dataset_folder)
    with open_dataset(dataset_folder) as dataset:
        trial = dataset.sql(f"SELECT DISTINCT {', '.join(sorted(names))}, dns_connection_state FROM trials")
        assert trial == [
            {
                "browser": "chromium",
                "doh_method": None,
                "h3_discovery": "forced",
                "name_resolution": "built_in",
                "requested_dns_handshake_mode": "full",
                "dns_connection_state": "cold",
            }
        ]
        load = dataset.sql(f"SELECT DISTINCT {', '.join(sorted(of_load))} FROM page_loads")
        assert load == [dict.fromkeys(sorted(of_load)) | {"console_errors": [], "foreign_names": []}]
        assert {row.kind for row in dataset.handshakes()} == {"page load", "cold DNS exchange"}


def test_a_load_without_all_of_its_page_failed_in_older_datasets_too(dataset_folder: Path) -> None:
    files = find_finished_trials(dataset_folder)
    flagged, warm = list(files)[:2]
    for trial, file in files.items():
        lines = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
        for line in lines:
            line.pop("last_byte_ms", None)
        if trial == flagged:
            lines[-1]["flags"] = ["resources_missing"]
        file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    build_tables(dataset_folder)
    with open_dataset(dataset_folder) as dataset:
        failed = dataset.sql("SELECT trial_id, measured, failure FROM page_loads WHERE failure IS NOT NULL")
        assert failed == [{"trial_id": flagged, "measured": True, "failure": "incomplete"}]
        assert {row.trial_id for row in dataset.measured_loads() if row.failure} == {flagged}
        ends = dataset.sql(
            "SELECT l.last_byte_ms AS own, r.response_end_ms AS of_request, l.measured FROM page_loads AS l"
            f" JOIN requests AS r USING (trial_id) WHERE trial_id = '{warm}' ORDER BY l.measured"
        )
    assert [one["own"] for one in ends] == [None, ends[1]["of_request"]]


def test_tables_of_no_trials_are_empty_but_there(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=0))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        assert dataset.measured_loads() == dataset.cold_exchanges() == dataset.lateness() == []


def test_a_broken_trial_keeps_the_old_tables(dataset_folder: Path) -> None:
    build_tables(dataset_folder)
    first = next(iter(find_finished_trials(dataset_folder).values()))
    first.write_bytes(b"".join(first.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(ConfigurationError, match="lacks its first or last line"):
        build_tables(dataset_folder)
    assert sorted(file.name for file in dataset_folder.iterdir()) == [
        "README.md",
        "manifest.json",
        "plan.toml",
        "tables",
        "trials",
    ]
    with open_dataset(dataset_folder) as dataset:
        assert len(dataset.measured_loads()) == 144


def test_tables_are_needed_to_open_a_dataset(dataset_folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="no table trials; make them with `resolab report"):
        open_dataset(dataset_folder)


def test_failures_flags_and_handshakes_are_counted(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(timeouts=True, rejected_early_data=True, late=True))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        loads = dataset.measured_loads()
        failures = dataset.failures()
        failed = sum(load.failure is not None for load in loads)
        assert failed > 0
        assert sum(one.count for one in failures if one.kind == "page load") == failed
        assert {one.failure for one in failures} == {"page_timeout", "query_timeout"}
        assert sum(one.count for one in dataset.flags()) == 16
        pages = [one for one in dataset.handshakes() if one.kind == "page load"]
        assert sum(one.count for one in pages) == 144
        assert {one.handshake_mode for one in pages if one.requested_handshake_mode == "zero_rtt"} == {
            "resumed",
            "zero_rtt",
        }


def test_a_dropped_spare_connection_counts_only_beside_a_failed_load(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(timeouts=True))
    for file in (folder / "trials").iterdir():
        lines = file.read_text().splitlines(keepends=True)
        broken = '"failure":"quic_handshake_failed"'
        file.write_text(
            "".join(line.replace('"failure":null', broken) if '"protocol":"quic"' in line else line for line in lines)
        )
    build_tables(folder)
    with open_dataset(folder) as dataset:
        failed = sum(load.failure is not None for load in dataset.measured_loads())
        of_connections = [one for one in dataset.failures() if one.kind == "quic connection at the edge"]
        assert sum(one.count for one in of_connections) == failed > 0
        assert len(find_finished_trials(folder)) > failed


def test_a_trial_without_a_measured_load_is_a_failure(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(no_measured_loads=True, trials_count=5))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        assert [load.loaded for load in dataset.measured_loads()] == [False] * 5
        assert sum(one.count for one in dataset.failures() if one.failure == "no_measured_load") == 5


def test_lateness_is_summed_up_over_both_directions(dataset_folder: Path) -> None:
    build_tables(dataset_folder)
    windows = [
        direction
        for file in find_finished_trials(dataset_folder).values()
        for record in read_trial(file)
        if isinstance(record, PathSummaryRecord) and record.profile == "4g"
        for direction in (record.up, record.down)
    ]
    with open_dataset(dataset_folder) as dataset:
        row = next(one for one in dataset.lateness() if one.profile == "4g")
    assert row.windows_count == len(windows)
    assert row.lateness_p99_worst_ns == max(one.lateness_p99_ns or 0 for one in windows)
    assert row.lateness_max_ns == max(one.lateness_max_ns or 0 for one in windows)
    assert row.dropped_device_count == 0


def test_additions_of_a_later_minor_version_are_ignored(dataset_folder: Path) -> None:
    first = next(iter(find_finished_trials(dataset_folder).values()))
    lines = first.read_bytes().splitlines()
    frame = msgspec.json.decode(lines[0]) | {"new_field": 1}
    first.write_bytes(b"\n".join([msgspec.json.encode(frame), *lines[1:]]) + b"\n")
    build_tables(dataset_folder)


@pytest.mark.parametrize(("name", "other"), [("run [ab]", "run a"), ("what?", "whatx"), ("all*", "all of them")])
def test_a_folders_name_is_no_pattern_that_finds_another_dataset(tmp_path: Path, name: str, other: str) -> None:
    build_tables(make_dataset(tmp_path / other, faults=Faults(trials_count=3)))
    folder = make_dataset(tmp_path / name, faults=Faults(trials_count=2))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        assert dataset.sql("SELECT count(*) AS n FROM trials")[0]["n"] == 2
    assert "| `trials` | 2 |" in (folder / "README.md").read_text()


def test_a_trial_that_was_removed_leaves_the_tables(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=3))
    before = ensure_tables(folder).stat().st_ino
    assert ensure_tables(folder).stat().st_ino == before, "nothing has changed, and yet they were made anew"
    removed, file = find_finished_trials(folder).popitem()
    file.unlink()
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        assert {row["trial_id"] for row in dataset.sql("SELECT trial_id FROM trials")} == set(
            find_finished_trials(folder)
        )
    assert removed not in find_finished_trials(folder)


def test_a_flag_of_another_version_is_read_as_text(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=2))
    file = next(iter(find_finished_trials(folder).values()))
    *lines, end = file.read_bytes().splitlines(keepends=True)
    ended = msgspec.json.decode(end)
    file.write_bytes(b"".join([*lines, msgspec.json.encode(ended | {"flags": ["flag_of_tomorrow"]}), b"\n"]))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        assert [one.flag for one in dataset.flags()] == ["flag_of_tomorrow"]


def test_a_dataset_from_before_the_plans_own_software_lacks_its_table() -> None:
    assert "software" not in tables_of_format("1.24")
    assert "software" in tables_of_format("1.25")
