"""What `scripts/bench internet` makes of round trips."""

import pytest

from benches.internet.bench_internet import hosts
from benches.internet.delay import judge_errors


@pytest.mark.parametrize(
    ("errors_us", "asked", "verdict"),
    [
        ([100.0] * 100, 100, "met"),
        ([100.0] * 99, 100, "MISSED"),
        ([100.0] * 99 + [-1.0], 100, "MISSED"),
        ([160.0] * 100, 100, "MISSED"),
        ([100.0] * 97 + [1_500.0] * 3, 100, "MISSED"),
        ([], 100, "MISSED"),
    ],
)
def test_round_trips_must_be_there_none_too_early_and_few_late(errors_us, asked, verdict):
    cells = judge_errors(errors_us, asked, [20.0, 90.0])
    assert (len(cells), cells[0], cells[-1]) == (7, f"{len(errors_us)} of {asked}", verdict)


def test_hosts_have_addresses_and_distances_of_their_own():
    those = hosts(20)
    assert len({host.address for host in those}) == len({host.one_way_ms for host in those}) == 20
