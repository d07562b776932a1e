import pytest

from benches.analysis import dataset
from resolab.basics.protocols import cold_exchange_round_trips
from resolab.store import open_dataset


def test_the_made_up_dataset_is_one_of_the_real_schema(tmp_path):
    dataset.make(tmp_path / "d", 40_000)
    with open_dataset(tmp_path / "d") as made:
        found = made.query_distributions(
            ["profile", "dns_transport", "requested_handshake_mode"],
            {"connection": ["cold"], "resolver_extra_rtt_ms": ["0"], "resolver_cache": ["hit"]},
        )
        whole = made.query_distributions([])
    assert [(one.n, one.failed_count > 0) for one in whole] == [(40_000, True)]
    assert len(found) == 5 * (2 + 4 * 3)
    for one in found:
        transport, mode = one.key["dns_transport"], one.key["requested_handshake_mode"]
        closed_form_ms = cold_exchange_round_trips(transport, mode) * dataset.RTT_MS[one.key["profile"]]
        assert one.median_ms == pytest.approx(closed_form_ms + 0.7 + 1.25, abs=1.0)
