"""The matrix has the issue's cells, plans that load, and verdicts that follow the figures."""

import pytest

from benches.browsers import cells, table
from benches.browsers.cells import BrowserCell, plan
from benches.browsers.measure import BrowserLoad

RTT_MS = 100.0
CELL = BrowserCell("chromium", "stub-doq", "h3", "resumed")


def test_every_cell_is_in_a_plan_that_loads():
    everything = cells.cells()
    assert len(everything) == 72
    for browser in cells.BROWSERS:
        for way in cells.WAYS:
            of_way = cells.cells([browser], [way])
            conditions = plan(of_way, profile="4g", loads=2).conditions()
            found = {(str(one.http_version), str(one.requested_handshake_mode)) for one in conditions}
            assert found == {(cell.http_version, cell.handshake) for cell in of_way}
            assert {(str(one.browser), f"{one.resolver_path}-{one.dns_transport}") for one in conditions} == {
                (browser, way)
            }


@pytest.mark.parametrize(
    ("way", "page", "trips"),
    [
        ("native-doudp", ("h3", "zero_rtt"), 2),
        ("native-doudp", ("h2", "full"), 4),
        ("native-doh", ("h3", "full"), 5),
        ("stub-dotcp", ("h3", "resumed"), 4),
        ("stub-doq", ("h2", "full"), 5),
    ],
)
def test_round_trips_are_look_up_connection_and_request(way, page, trips):
    assert BrowserCell("firefox", way, *page).trips == trips


def loads(*first_byte_ms, reached=True):
    return [BrowserLoad(CELL, reached, "" if reached else "handshake full", ms, 100.0) for ms in first_byte_ms]


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (loads(400.0, 410.0, 900.0), "met"),
        (loads(444.0), "met"),
        (loads(446.0), "MISSED"),
        (loads(354.0), "MISSED"),
        (loads(*[400.0] * 19) + loads(400.0, reached=False), "met"),
        (loads(*[400.0] * 18) + loads(400.0, 400.0, reached=False), "MISSED"),
        ([], "MISSED"),
    ],
)
def test_a_cell_is_judged_by_its_share_and_its_median(measured, verdict):
    part = table.matrix([CELL], measured, "4g", RTT_MS)
    assert part.rows[0][-1] == verdict
    assert part.missed_count == (verdict == "MISSED")


def test_reasons_are_counted_and_overhead_is_judged_by_browser():
    part = table.matrix([CELL], loads(1.0, 1.0, reached=False), "4g", RTT_MS)
    assert part.remarks[-1] == "not reached 2 times: handshake full"
    assert [row[-1] for row in table.overhead(["chromium", "firefox"], loads(400.0)).rows] == ["met"]
