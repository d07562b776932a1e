"""A few cells of `scripts/bench browsers`: the state asked for is reached, in its round trips.

Round trips are told from the fastest load, so that a machine that is busy meanwhile costs nothing; the matrix's own
limits are the bench's.
"""

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from browser_figures.cells import Cell
from browser_figures.measure import measure, round_trip_ms

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
LOADS = 3
PROFILE = "4g"
CELLS = [
    Cell("chromium", "native-doh3", "h3", "zero_rtt"),
    Cell("chromium", "stub-doq", "h2", "full"),
    Cell("chromium", "stub-doq", "h3", "resumed"),
    Cell("firefox", "native-doudp", "h3", "full"),
    Cell("firefox", "native-doudp", "h3", "zero_rtt"),
    Cell("firefox", "native-doh", "h2", "full"),
]


@pytest.fixture(scope="module")
def loads_of(privileged):
    made = {}

    def get(cell):
        run = (cell.browser, cell.way)
        if run not in made:
            wanted = [other for other in CELLS if (other.browser, other.way) == run]
            made[run] = asyncio.run(measure(wanted, profile=PROFILE, loads=LOADS, say=lambda _what: None))
        return [load for load in made[run] if load.cell == cell]

    return get


@pytest.mark.parametrize(
    "cell", CELLS, ids=lambda cell: f"{cell.browser}-{cell.way}-{cell.http_version}-{cell.handshake}"
)
def test_a_cell_reaches_its_state_in_its_round_trips(loads_of, cell):
    loads = loads_of(cell)
    assert len(loads) == LOADS
    reached = [load for load in loads if load.reached]
    # One may be disturbed by what else the machine does.
    assert len(reached) >= LOADS - 1, [load.why_not for load in loads]
    fastest_ms = min(load.first_byte_ms for load in reached)
    assert round(fastest_ms / round_trip_ms(PROFILE)) == cell.trips, fastest_ms
