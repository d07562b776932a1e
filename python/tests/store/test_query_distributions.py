import math
import random
from pathlib import Path

import duckdb
import numpy as np
import pytest
from synthetic_dataset import Faults, make_dataset

from resolab.store import DISTRIBUTION_PROBABILITIES, Dataset, build_tables, open_dataset
from resolab.store.query_times import histograms
from resolab.store.query_times.distributions import DistributionSource


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    folder = make_dataset(tmp_path / "d", faults=Faults(timeouts=True))
    build_tables(folder)
    return folder


def _times_ms(dataset: Dataset) -> dict[tuple[str, str], list[float]]:
    """Response times by profile and transport, row by row."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in dataset.sql("SELECT t.profile, q.* FROM queries AS q JOIN trials AS t USING (trial_id)"):
        time = math.inf if row["failure"] else row["query_response_time_ns"] / 1e6
        groups.setdefault((row["profile"], row["dns_transport"]), []).append(time)
    return groups


def test_quantiles_and_medians_are_those_of_numpy(faulty: Path) -> None:
    with open_dataset(faulty) as dataset:
        expected = _times_ms(dataset)
        found = dataset.query_distributions(["profile", "dns_transport"])
    assert [tuple(one.key.values()) for one in found] == sorted(expected)
    assert sum(one.failed_count for one in found) > 0
    for one in found:
        times = np.asarray(expected[one.key["profile"], one.key["dns_transport"]])
        assert (one.n, one.failed_count) == (times.size, np.isinf(times).sum())
        quantiles = np.quantile(times, DISTRIBUTION_PROBABILITIES, method="inverted_cdf")
        assert one.quantiles_ms == pytest.approx(quantiles)
        assert one.median_ms == pytest.approx(np.median(times))
        assert one.relative_error == 0


def test_the_median_interval_has_the_ranks_of_tables() -> None:
    # Ranks for n = 6, 10, 25 and 100 at 95 %: David and Nagaraja 2003; Conover 1999, table A3.
    for n, low, high in ((6, 1, 6), (10, 2, 9), (25, 8, 18), (100, 40, 61)):
        (one,) = _source([float(time) for time in range(1, n + 1)]).distributions([], None)
        assert (one.median_ci_low_ms, one.median_ci_high_ms) == (low, high)
    (few,) = _source([1.0, 2.0, 3.0, 4.0, 5.0]).distributions([], None)
    assert few.median_ci_low_ms is few.median_ci_high_ms is None


def test_half_failed_is_an_infinite_median() -> None:
    (one,) = _source([1.0, 2.0, math.inf, math.inf]).distributions([], None)
    assert (one.median_ms, one.quantiles_ms[0], one.quantiles_ms[-1], one.failed_count) == (math.inf, 1, math.inf, 2)
    (one,) = _source([1.0, 2.0, 4.0, math.inf]).distributions([], None)
    assert one.median_ms == 3


def test_wide_buckets_stay_within_their_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    times = rng.lognormal(np.log(40), 1.2, 20_000)
    times[:200] = np.inf
    (exact,) = _source(times.tolist()).distributions([], None)
    monkeypatch.setattr(histograms, "EXACT_ROWS_COUNT", 1_000)
    (wide,) = _source(times.tolist()).distributions([], None)
    assert (wide.n, wide.failed_count, exact.relative_error) == (20_000, 200, 0)
    for one, other in zip((*wide.quantiles_ms, wide.median_ms), (*exact.quantiles_ms, exact.median_ms), strict=True):
        assert one == other == math.inf or abs(one / other - 1) <= wide.relative_error < 0.000_13
    assert wide.quantiles_ms != exact.quantiles_ms


def test_any_factor_selects_and_splits(faulty: Path) -> None:
    with open_dataset(faulty) as dataset:
        split = dataset.query_distributions(["page", "block"], {"profile": ["4g"], "dns_transport": ["doh", "doq"]})
        assert {tuple(one.key.values()) for one in split} == {
            (page, str(block)) for page in ("example", "wikipedia") for block in range(6)
        }
        # Six conditions of a page and profile in each block, two transports of three.
        assert {one.n for one in split} == {12}
        whole = dataset.query_distributions(["requested_handshake_mode"], {"dns_transport": ["doudp"]})
        assert [(one.key, one.n) for one in whole] == [({"requested_handshake_mode": "full"}, 144)]
        assert dataset.query_distributions(["doh_method"])[0].key == {"doh_method": "default"}
        got = {one.key["handshake_mode"]: one.n for one in dataset.query_distributions(["handshake_mode"])}
        assert set(got) == {"full", "none"}
        assert dataset.query_distributions(["profile"], {"profile": ["dsl"]}) == []
        with pytest.raises(ValueError, match="no key 'colour'"):
            dataset.query_distributions(["colour"])


def test_answered_but_failed_counts_as_never() -> None:
    connection = _connection([5.0] * 3)
    connection.execute("UPDATE queries SET failure = 'dns_rcode' WHERE sequence = 0")
    (one,) = DistributionSource(connection).distributions([], None)
    assert (one.n, one.failed_count, one.quantiles_ms[-1]) == (3, 1, math.inf)


def test_what_was_forwarded_is_not_measured() -> None:
    connection = _connection([5.0] * 3)
    connection.execute("UPDATE queries SET purpose = 'forwarded' WHERE sequence = 0")
    (one,) = DistributionSource(connection).distributions([], None)
    assert one.n == 2


def test_one_pass_answers_the_usual_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    counted = histograms.count_queries
    monkeypatch.setattr(
        "resolab.store.query_times.distributions.count_queries", lambda *both: passes.append(both[1]) or counted(*both)
    )
    source = _source([random.Random(2).random() for _ in range(50)])
    for by in (["profile"], ["dns_transport", "profile"], [], ["connection"]):
        assert sum(one.n for one in source.distributions(by, {"requested_handshake_mode": ["full"]})) == 50
    assert len(passes) == 1


def _source(times_ms: list[float]) -> DistributionSource:
    return DistributionSource(_connection(times_ms))


def _connection(times_ms: list[float]) -> duckdb.DuckDBPyConnection:
    """Make tables of one trial whose queries took these times."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE trials AS SELECT 'b000-t000' AS trial_id, 'fiber' AS profile, "
        "0.0 AS resolver_extra_rtt_ms, 'hit' AS resolver_cache, 'lab' AS resolver, 'edge' AS resolver_software"
    )
    connection.execute("CREATE TABLE times (sequence BIGINT, time_ns BIGINT)")
    times = ("NULL" if math.isinf(time) else round(time * 1e6) for time in times_ms)
    values = ", ".join(f"({sequence}, {time})" for sequence, time in enumerate(times))
    connection.execute(f"INSERT INTO times VALUES {values}")
    connection.execute(
        "CREATE TABLE queries AS SELECT 'b000-t000' AS trial_id, 'measured' AS purpose, sequence, 'doh' AS dns_transport, "
        "'full' AS requested_handshake_mode, 'full' AS handshake_mode, 'cold' AS connection, "
        "time_ns AS query_response_time_ns, CASE WHEN time_ns IS NULL THEN 'query_timeout' END AS failure FROM times"
    )
    return connection
