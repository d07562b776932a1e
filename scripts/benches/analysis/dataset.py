"""A dataset with any number of queries, written directly as tables of the real schema.

For: `scripts/bench analysis`. Not for: trial files; 1e8 queries would need a million files.

Response times follow the closed form of their transport, handshake, profile and resolver, with skewed noise. One query
in 200 is sent again and one in 500 fails. The same number of rows always gives the same values.
"""

import time
from pathlib import Path

import duckdb

from resolab.basics.records import FORMAT_VERSION, DirectionProfile, LinkProfile
from resolab.plan import parse_plan
from resolab.store import Manifest, RunStatus, Versions, create_dataset_folder, describe_machine, save_manifest
from resolab.store.columns import REQUIRED, TABLES, Column, list_columns
from resolab.store.literals import literal

QUERIES_PER_TRIAL = 100
TRIALS_PER_BLOCK = 360
"""The number of conditions, each run once per block."""
RTT_MS = {"fiber": 14.767, "default-h20": 25.177, "dsl": 42.36, "4g": 91.852, "4g-h20": 53.3}
"""The profiles of both papers, because each paper draws only its own."""
EXTRA_RTT_MS = 26.65
PAGES = ("example", "wikipedia", "instagram")
PLAN = """
name = "bench-analysis"
question = "How long does the analysis of N queries take?"
seed = 1
blocks = {blocks}
[factors]
page = ["example", "wikipedia", "instagram"]
profile = ["fiber", "default-h20", "dsl", "4g", "4g-h20"]
dns_transport = ["doudp", "doh", "doq"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
resolver_extra_rtt_ms = [0.0, {extra_rtt_ms}]
resolver_cache = ["hit", "miss"]
[resolver_path]
doudp = "native"
doh = "native"
doq = "stub"
[baseline]
dns_transport = "doudp"
requested_handshake_mode = "full"
"""
# Of 20 queries of a round: DoUDP and DoTCP, then four encrypted transports with each handshake cold, then six warm.
_SHAPES = """
SELECT * FROM (VALUES
    (0, 'doudp', NULL, NULL, 1), (1, 'dotcp', 'cold', NULL, 2),
    (2, 'dot', 'cold', 'full', 3), (3, 'dot', 'cold', 'resumed', 3), (4, 'dot', 'cold', 'zero_rtt', 2),
    (5, 'doh', 'cold', 'full', 3), (6, 'doh', 'cold', 'resumed', 3), (7, 'doh', 'cold', 'zero_rtt', 2),
    (8, 'doh3', 'cold', 'full', 2), (9, 'doh3', 'cold', 'resumed', 2), (10, 'doh3', 'cold', 'zero_rtt', 1),
    (11, 'doq', 'cold', 'full', 2), (12, 'doq', 'cold', 'resumed', 2), (13, 'doq', 'cold', 'zero_rtt', 1),
    (14, 'doudp', NULL, NULL, 1), (15, 'dot', 'warm', NULL, 1), (16, 'doh', 'warm', NULL, 1),
    (17, 'doh3', 'warm', NULL, 1), (18, 'doq', 'warm', NULL, 1), (19, 'dotcp', 'warm', NULL, 1)
) AS shapes(shape, transport, state, mode, trips)
"""


def make(folder: Path, rows: int) -> float:
    """Write the dataset; return the time taken, in s."""
    begun = time.monotonic()
    trials = max(rows // QUERIES_PER_TRIAL, 1)
    blocks = -(-trials // TRIALS_PER_BLOCK)
    create_dataset_folder(folder)
    save_manifest(folder, _manifest(blocks, trials))
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": "1GB",
        "temp_directory": str(folder / ".duckdb"),
    }
    (folder / "tables").mkdir()
    with duckdb.connect(config=settings) as connection:
        _make_trials(connection, trials)
        connection.execute(f"CREATE TABLE shapes AS {_SHAPES}")
        values = {"trials": (_TRIAL_VALUES, "made_trials"), "queries": (_QUERY_VALUES, _queries(rows))}
        for table in TABLES:
            chosen, source = values.get(table, ({}, "(SELECT 1 WHERE false)"))
            file = str(folder / "tables" / f"{table}.parquet").replace("'", "''")
            selection = f"SELECT {_columns(table, chosen)} FROM {source}"
            connection.execute(f"COPY ({selection}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
    return time.monotonic() - begun


def _manifest(blocks: int, trials: int) -> Manifest:
    text = PLAN.format(blocks=blocks, extra_rtt_ms=EXTRA_RTT_MS)
    plan = parse_plan(text, "bench.toml", None)
    directions = {name: DirectionProfile(one_way_delay_ms=rtt / 2, rate_bps=1e8) for name, rtt in RTT_MS.items()}
    return Manifest(
        format_version=FORMAT_VERSION,
        dataset_id=f"bench-analysis-{trials}",
        plan=plan.name,
        plan_text=text,
        seed=plan.seed,
        blocks=blocks,
        profiles=[LinkProfile(name=name, source="bench", up=one, down=one) for name, one in directions.items()],
        created_unix_ns=time.time_ns(),
        command_line=["scripts/bench", "analysis"],
        versions=Versions(resolab="bench"),
        machine=describe_machine(),
        status=RunStatus.FINISHED,
        trials_planned_count=trials,
        trials_finished_count=trials,
    )


def _make_trials(connection: duckdb.DuckDBPyConnection, trials: int) -> None:
    """Write the numbered trials; the levels of each trial follow from its number."""
    delays = ", ".join(str(rtt) for rtt in RTT_MS.values())
    connection.execute(f"""
        CREATE TABLE made_trials AS
        SELECT i::BIGINT AS number,
               (i // {TRIALS_PER_BLOCK})::BIGINT AS block, (i % {TRIALS_PER_BLOCK})::BIGINT AS position,
               {list(PAGES)}[1 + i % 3] AS page, {list(RTT_MS)}[1 + (i // 3) % 5] AS profile,
               ['doudp', 'doh', 'doq'][1 + (i // 15) % 3] AS transport, ['full', 'zero_rtt'][1 + (i // 45) % 2] AS mode,
               [0.0, {EXTRA_RTT_MS}][1 + (i // 90) % 2] AS extra_ms,
               ['hit', 'miss'][1 + (i // 180) % 2] AS cache,
               printf('b%03d-t%03d', i // {TRIALS_PER_BLOCK}, i % {TRIALS_PER_BLOCK}) AS trial_id,
               [{delays}][1 + (i // 3) % 5] + [0.0, {EXTRA_RTT_MS}][1 + (i // 90) % 2] AS rtt_ms
        FROM range({trials}) AS numbers(i)
    """)


_TRIAL_VALUES = {
    "trial_id": "trial_id", "block": "block", "position": "position", "page": "page", "profile": "profile",
    "format_version": f"'{FORMAT_VERSION}'",
    "condition": "concat_ws('.', page, profile, transport, 'h3', mode, format('{:g}', extra_ms), cache)",
    "dns_transport": "transport", "http_version": "'h3'", "requested_handshake_mode": "mode",
    "resolver_path": "CASE WHEN transport = 'doq' THEN 'stub' ELSE 'native' END", "resolver_extra_rtt_ms": "extra_ms",
    "resolver_cache": "cache", "browser": "'chromium'", "h3_discovery": "'forced'", "name_resolution": "'built_in'",
    "dns_connection_state": "'cold'", "requested_dns_handshake_mode": "'full'", "replicate": "1",
    "monotonic_ns": "1000000000 + number * 3000000000",
    "wall_time_unix_ns": "1720779300000000000 + number * 3000000000",
    "load_average_1min": "0.5", "end_monotonic_ns": "3500000000 + number * 3000000000", "flags": "[]",
}  # fmt: skip


def _queries(rows: int) -> str:
    """Give each query a trial, a shape and random numbers, even in [0, 1): `u` for noise, `v` for failure and loss."""
    trips = "trips * rtt_ms + CASE WHEN cache = 'miss' THEN 40 ELSE 0 END + 0.7 - 1.8 * ln(1 - u)"
    return f"""(
        SELECT *, CASE WHEN v >= 0.002 THEN
                      (1e6 * ({trips} + CASE WHEN v < 0.007 THEN 1000 ELSE 0 END))::BIGINT END AS time_ns
        FROM (
            SELECT i, t.trial_id, t.number, t.page, t.rtt_ms, t.cache, s.*,
                   (hash(i) >> 11)::DOUBLE / 9007199254740992 AS u,
                   (hash(i + 1000000007) >> 11)::DOUBLE / 9007199254740992 AS v
            FROM range({rows}) AS numbers(i)
            JOIN made_trials AS t ON t.number = i // {QUERIES_PER_TRIAL}
            JOIN shapes AS s ON s.shape = i % 20
        )
    )"""


_QUERY_VALUES = {
    "trial_id": "trial_id", "dns_transport": "transport", "resolver": "transport || '://dns.resolab.test'",
    "bootstrap": "'given'", "certificate_checked": "true",
    "qname": "'n' || (i % 40) || '.' || page || '.resolab.test.'",
    "qtype": "'A'", "purpose": "'measured'", "sequence": f"i % {QUERIES_PER_TRIAL}",
    "time_origin_ns": "1000000000 + number * 3000000000", "connection": "state", "requested_handshake_mode": "mode",
    "handshake_mode": "CASE WHEN time_ns IS NULL THEN NULL WHEN u < 0.02 AND mode = 'zero_rtt' THEN 'resumed' "
    "ELSE mode END",
    "query_exchange_start_ns": "CASE WHEN time_ns IS NOT NULL THEN greatest(time_ns - (rtt_ms * 1e6)::BIGINT, 0) END",
    "query_exchange_end_ns": "time_ns", "query_response_time_ns": "time_ns", "query_bytes": "40",
    "response_bytes": "CASE WHEN time_ns IS NOT NULL THEN 56 END",
    "attempt_count": "CASE WHEN v < 0.007 THEN 2 ELSE 1 END",
    "rcode": "CASE WHEN time_ns IS NOT NULL THEN 'NOERROR' END", "addresses": "['10.77.1.1']", "answers": "[]",
    "failure": "CASE WHEN time_ns IS NULL THEN 'query_timeout' END",
    "failure_detail": "CASE WHEN time_ns IS NULL THEN 'no response within 10 s' END", "dnssec_ok": "false",
}  # fmt: skip


def _default(column: Column) -> str:
    """Return the default of a column without made values, as in records without the field."""
    return "NULL" if column.default is None or column.default is REQUIRED else literal(str(column.default))


def _columns(table: str, values: dict[str, str]) -> str:
    listed = (
        f'({values.get(one.name) or _default(one)})::{one.duckdb_type} AS "{one.name}"' for one in list_columns(table)
    )
    return ", ".join(listed)
