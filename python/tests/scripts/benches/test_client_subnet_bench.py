"""The closed form of a cache's hit ratio, held against caches that are played through; and the traces."""

import itertools
from collections.abc import Hashable, Iterable

import numpy as np
import pytest

from benches.client_subnet import model, pages, replay
from benches.client_subnet.traces import TRACES, Trace
from benches.common.corpus import page_models

KEPT_S, RATE_PER_S, WARM_UP_S, MEASURED_S = 5.0, 200.0, 10.0, 200.0


def played(keys: Iterable[tuple[float, Hashable]]) -> float:
    """Hit ratio of a cache that keeps each key for so long after it was fetched."""
    until: dict[Hashable, float] = {}
    asked = hits = 0
    for at_s, key in keys:
        is_hit = until.get(key, -1.0) > at_s
        if not is_hit:
            until[key] = at_s + KEPT_S
        if at_s >= WARM_UP_S:
            asked += 1
            hits += is_hit
    return hits / asked


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
@pytest.mark.parametrize("by_subnet", [False, True])
def test_the_closed_form_is_what_a_cache_does(trace: Trace, *, by_subnet: bool) -> None:
    queries = trace.draw(RATE_PER_S, WARM_UP_S + MEASURED_S, seed=5)
    keys = ((one.at_s, (one.name, one.subnet) if by_subnet else one.name) for one in queries)
    foreseen = model.compute_hit_ratio(trace, RATE_PER_S, KEPT_S, by_subnet=by_subnet)
    assert played(keys) == pytest.approx(foreseen, abs=0.01)


def test_one_name_of_one_client_is_the_textbook_case() -> None:
    assert model.hit_ratio(np.array([2.0]), 3.0) == pytest.approx(6 / 7)
    assert model.hit_ratio(np.array([2.0, 0.0]), 3.0) == pytest.approx(6 / 7)
    alike = Trace("alike", 1, 1.0, 4, 0.0)
    assert model.compute_hit_ratio(alike, 2.0, 3.0, by_subnet=True) == pytest.approx(1.5 / 2.5)


def test_traces_have_their_shares_and_are_the_same_for_the_same_seed() -> None:
    trace = Trace("two", 2, 1.0, 3, 0.0)
    queries = list(trace.draw(1_000.0, 20.0, seed=1))
    assert queries == list(trace.draw(1_000.0, 20.0, seed=1))
    assert [one.at_s for one in queries] == sorted(one.at_s for one in queries)
    first = sum(one.name == 0 for one in queries) / len(queries)
    assert first == pytest.approx(2 / 3, abs=0.02)
    for subnet in range(3):
        assert sum(one.subnet == subnet for one in queries) / len(queries) == pytest.approx(1 / 3, abs=0.02)


def test_each_subnet_has_an_address_of_its_own_24_bits() -> None:
    sources = [replay.source_of(subnet) for subnet in range(600)]
    assert len({source.rpartition(".")[0] for source in sources}) == 600
    assert all(source.startswith("127.") for source in sources)


def test_a_hit_ratio_costs_pages_the_look_ups_they_wait_for() -> None:
    models = list(itertools.islice(page_models(), 6))
    alike = pages.worth(models, 0.9, 0.9, 30.0, seed=1)
    assert (alike.median_ms, alike.slowest_ms) == (0, 0)
    every = pages.worth(models, 1.0, 0.0, 30.0, seed=1)
    # All names late: by the look-ups of each page's longest chain, the same in every draw.
    assert every.lower_quartile_ms >= 30
    assert every.slowest_ms >= every.upper_quartile_ms >= every.median_ms
    half = pages.worth(models, 1.0, 0.5, 30.0, seed=1)
    assert 0 < half.median_ms < every.median_ms
    assert half == pages.worth(models, 1.0, 0.5, 30.0, seed=1)
