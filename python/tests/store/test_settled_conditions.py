"""Which conditions neither look up nor connect after their document."""

import duckdb
import pytest

from resolab.store.queries import SETTLED_CONDITIONS


@pytest.mark.parametrize(
    ("request_row", "settled"),
    [
        ("'t0', 'https://a.test/x', 20, 20, 20, 20, 20", True),
        ("'t0', 'https://a.test/x', 20, NULL, NULL, NULL, NULL", True),
        ("'t0', 'https://a.test/x', 20, 20, 25, 25, 25", False),
        ("'t0', 'https://a.test/x', 20, 20, 20, 20, 30", False),
        ("'t0', 'https://b.test/x', 20, NULL, NULL, NULL, NULL", False),
    ],
)
def test_a_request_that_sets_up_after_the_document_unsettles(request_row: str, settled: bool):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE trials AS SELECT 't0' AS trial_id, 'c' AS condition")
    connection.execute(
        "CREATE TABLE requests (trial_id VARCHAR, url VARCHAR, start_ms DOUBLE, domain_lookup_start_ms DOUBLE, "
        "domain_lookup_end_ms DOUBLE, connect_start_ms DOUBLE, connect_end_ms DOUBLE)"
    )
    connection.execute("INSERT INTO requests VALUES ('t0', 'https://a.test/', 0, 1, 5, 5, 15)")
    connection.execute(f"INSERT INTO requests VALUES ({request_row})")
    assert connection.execute(SETTLED_CONDITIONS).fetchall() == ([("c",)] if settled else [])
