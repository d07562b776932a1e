import math
from pathlib import Path

import pytest
from synthetic_dataset import RTT_MS, Faults, make_dataset, make_plan

from resolab.report import exchanges
from resolab.report.exchanges import exchange_results
from resolab.stats import Method
from resolab.store import build_tables, open_dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_dataset(tmp_path_factory.mktemp("exchanges") / "d", faults=Faults(timeouts=True))
    build_tables(made)
    return made


def test_many_exchanges_give_the_same_medians_without_being_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_dataset(folder) as dataset:
        few = exchange_results(make_plan(), dataset, RTT_MS)
        listed = len(dataset.cold_exchanges())
        assert not dataset.has_more_cold_exchanges(listed)
        monkeypatch.setattr(exchanges, "LISTED_COUNT", listed - 1)
        monkeypatch.setattr(dataset, "cold_exchanges", None)
        many = exchange_results(make_plan(), dataset, RTT_MS)
    assert len(few) == 6
    assert sum(one.failed_count for one in few) > 0
    for one, other in zip(few, many, strict=True):
        names = ("profile", "dns_transport", "requested_handshake_mode", "n", "failed_count", "reached_count")
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
        assert other.median_ms.value == pytest.approx(one.median_ms.value)
        assert other.remainder_ms.value == pytest.approx(one.remainder_ms.value)
        assert other.median_ms.method is Method.ORDER_STATISTIC
        # Two intervals for one median: each holds it, and they overlap.
        assert other.median_ms.ci_low <= one.median_ms.value <= other.median_ms.ci_high
        assert max(one.median_ms.ci_low, other.median_ms.ci_low) <= min(one.median_ms.ci_high, other.median_ms.ci_high)


def test_curves_rise_to_the_share_that_succeeded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_dataset(folder) as dataset:
        for limit in (exchanges.LISTED_COUNT, 0):
            monkeypatch.setattr(exchanges, "LISTED_COUNT", limit)
            for one in exchange_results(make_plan(), dataset, RTT_MS):
                assert list(one.round_trips) == sorted(one.round_trips)
                assert list(one.shares) == sorted(one.shares)
                assert all(map(math.isfinite, one.round_trips))
                assert one.shares[-1] == pytest.approx(1 - one.failed_count / one.n, abs=0.005)
