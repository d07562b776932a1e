from pathlib import Path

import pytest
from h20_dataset import Arm, Query, make_h20_dataset

from resolab.store import open_dataset
from resolab.store.trial_loads import trial_loads, trial_resolvers
from resolab.studies.h20.queries import exchange_medians, query_costs
from resolab.studies.s24.exchanges import _phases
from resolab.studies.s24.queries import phase_distributions

DO53 = Arm("office", "doudp", 25.0, "miss")
DOT = Arm("office", "dot", 25.0, "miss")


def test_loads_have_their_levels_and_count_the_names_of_a_page(tmp_path: Path) -> None:
    again = Arm("office", "dot", 25.0, "miss", replicate=2)
    loads = {DO53: [100.0, "page_timeout"], DOT: [110.0, None], again: [120.0, 121.0]}
    with open_dataset(make_h20_dataset(tmp_path / "d", loads, names_count=3)) as dataset:
        rows = trial_loads(dataset)
    found = {(row.block, row.dns_transport): row for row in rows}
    assert len(rows) == 4  # the second copy of a condition is no load of this study
    assert found[0, "doudp"].names_count == 3
    assert found[0, "doudp"].resolver_extra_rtt_ms == 25.0
    assert found[0, "dot"].resolver_cache == "miss"
    assert (found[1, "doudp"].failure, found[1, "doudp"].times_ms["plt"], found[1, "doudp"].loaded) == (
        "page_timeout",
        None,
        True,
    )
    assert (found[1, "dot"].loaded, found[1, "dot"].names_count) == (False, None)


def test_costs_are_summed_by_kind_and_block(tmp_path: Path) -> None:
    queries = {
        DO53: [[Query(10.0, 9.5), Query(5_010.0, 5_009.5, attempts=2)], [Query(None)]],
        DOT: [
            [Query(30.0, 10.0, "cold"), Query(None, connection="cold")],
            [Query(32.0, 12.0, "cold"), Query(11.0, 11.0, "warm")],
        ],
    }
    with open_dataset(make_h20_dataset(tmp_path / "d", {DO53: [1.0, 1.0], DOT: [1.0, 1.0]}, queries)) as dataset:
        rows = {(row.dns_transport, row.connection, row.batch): row for row in query_costs(dataset)}
    assert set(rows) == {
        ("doudp", "none", 0),
        ("doudp", "none", 1),
        ("dot", "cold", 0),
        ("dot", "cold", 1),
        ("dot", "warm", 1),
    }
    do53 = rows["doudp", "none", 0]
    assert (do53.n, do53.failed_count, do53.retried_count) == (2, 0, 1)
    assert do53.sum_ms == pytest.approx(5_020)
    assert rows["doudp", "none", 1].sum_ms == 10_000
    cold = rows["dot", "cold", 0]
    assert (cold.n, cold.failed_count, cold.exchanges_count) == (2, 1, 1)
    assert cold.sum_ms == pytest.approx(30 + 10_000)
    assert cold.exchanges_sum_ms == pytest.approx(10)
    assert rows["dot", "warm", 1].sum_ms == pytest.approx(11)


def test_a_failed_query_counts_as_the_time_it_was_given(tmp_path: Path) -> None:
    failed, answered = Query(None, limit_ms=5_000.0), Query(30.0, 10.0, "cold", limit_ms=5_000.0)
    queries = {
        DO53: [[Query(10.0, 10.0, limit_ms=5_000.0), failed, Query(None)]],
        DOT: [[answered, Query(None, connection="cold", limit_ms=2_000.0)]],
    }
    with open_dataset(make_h20_dataset(tmp_path / "d", {DO53: [1.0], DOT: [1.0]}, queries)) as dataset:
        rows = {row.dns_transport: row for row in query_costs(dataset)}
    # The third failed before records had a limit: the lab's client gave 10 s then.
    assert rows["doudp"].sum_ms == pytest.approx(10 + 5_000 + 10_000)
    assert (rows["doudp"].least_limit_ms, rows["doudp"].limit_ms) == (5_000, 10_000)
    assert (rows["doudp"].n, rows["doudp"].failed_count, rows["doudp"].exchanges_count) == (3, 2, 1)
    assert rows["doudp"].exchanges_sum_ms == pytest.approx(10)
    assert rows["dot"].sum_ms == pytest.approx(30 + 2_000)
    assert rows["dot"].exchanges_sum_ms == pytest.approx(10)


def test_medians_of_exchanges_leave_warm_queries_out(tmp_path: Path) -> None:
    queries = {
        DOT: [
            [Query(30.0, 10.0, "cold"), Query(31.0, 11.0, "cold"), Query(90.0, 70.0, "cold"), Query(1.0, 1.0, "warm")]
        ]
    }
    with open_dataset(make_h20_dataset(tmp_path / "d", {DOT: [1.0]}, queries)) as dataset:
        (row,) = exchange_medians(dataset)
    assert (row.n, row.dns_transport, row.resolver_extra_rtt_ms, row.resolver_cache) == (3, "dot", 25.0, "miss")
    assert row.median_ms == pytest.approx(11, rel=1e-4)


def test_one_pass_serves_both_papers_and_keeps_far_resolvers_apart(tmp_path: Path) -> None:
    near = Arm("office", "dot", 0.0, "hit")
    queries = {
        near: [[Query(20.0, 10.0, "cold"), Query(None, connection="cold"), Query(9.0, 9.0, "warm")]],
        Arm("office", "dot", 25.0, "hit"): [[Query(70.0, 35.0, "cold")]],
        Arm("office", "dot", 0.0, "miss"): [[Query(60.0, 50.0, "cold")]],
    }
    with open_dataset(make_h20_dataset(tmp_path / "d", {arm: [1.0] for arm in queries}, queries)) as dataset:
        medians = exchange_medians(dataset)
        phases: dict[str, list[tuple[str, int | None, int, int]]] = {}
        for row in phase_distributions(dataset):
            levels = (row.dns_transport, row.time_us, row.reached_count, row.total_count)
            phases.setdefault(row.phase, []).append(levels)
        (tables,) = dataset.sql("SELECT count(*) AS count FROM duckdb_tables() WHERE table_name = 'cold_phases'")
        resolvers = [(row.resolver_extra_rtt_ms, row.resolver_cache) for row in trial_resolvers(dataset)]
    assert [(row.resolver_extra_rtt_ms, row.resolver_cache, row.n) for row in medians] == [
        (0.0, "hit", 1),
        (0.0, "miss", 1),
        (25.0, "hit", 1),
    ]
    assert [row.median_ms for row in medians] == pytest.approx([10, 50, 35], rel=1e-4)
    # Sengupta et al. had the resolver at the edge and its answer in the cache; the failed query counts in the total.
    assert phases["query_response_time"] == [("dot", 20_000, 1, 2), ("dot", None, 2, 2)]
    assert tables["count"] == 1
    assert resolvers == [(0.0, "hit"), (0.0, "miss"), (25.0, "hit")]


def test_only_cold_queries_had_a_handshake_to_reach(tmp_path: Path) -> None:
    queries = {DOT: [[Query(30.0, 10.0, "cold"), *[Query(10.0, 10.0, "warm")] * 8]] * 2}
    with open_dataset(make_h20_dataset(tmp_path / "d", {DOT: [1.0, 1.0]}, queries)) as dataset:
        (row,) = [one for one in dataset.handshakes() if one.kind == "cold DNS exchange"]
    assert (row.dns_transport, row.requested_handshake_mode, row.count) == ("dot", "full", 2)


def test_thinned_distributions_keep_the_last_time_that_was_reached(tmp_path: Path) -> None:
    # 19,999 answers at as many times, so that nearly all of the last thousandth has no step of its own.
    near, count = Arm("office", "dot", 0.0, "hit"), 20_000
    answered = [Query(20.0 + number / 1_000, 10.0, "cold") for number in range(count - 1)]
    queries = {near: [[*answered, Query(None, connection="cold")]]}
    with open_dataset(make_h20_dataset(tmp_path / "d", {near: [1.0]}, queries)) as dataset:
        rows = [row for row in phase_distributions(dataset) if row.phase == "query_response_time"]
    reached = [row for row in rows if row.time_us is not None]
    assert 1_000 <= len(reached) <= 1_001
    assert (reached[-1].reached_count, reached[-1].total_count) == (count - 1, count)
    (found,) = _phases(rows, {"office": 10.0}).values()
    assert (found.n, found.failed_count) == (count, 1)
