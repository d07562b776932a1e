"""The cells of the matrix and the time each must take from navigation to first byte.

For: closed forms and plans. Not for: loading pages (`measure`).

Expected is a count of round trips: those of the look-up, those of the connection, and one for the request. What the
link's rate adds on `4g` (a server's certificate and the document are some thousand bytes: below 1 ms) is not in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.plan import Corpus, Plan, parse_plan
from resolab.protocols import DNS_TRANSPORTS, cold_exchange_round_trips, page_handshake_round_trips

BROWSERS = ["chromium", "firefox"]
WAYS = [
    *(f"native-{transport}" for transport in ("doudp", "doh", "doh3")),
    *(f"stub-{transport}" for transport in DNS_TRANSPORTS),
]
"""How a browser reaches the resolver, and over what."""
PAGES = (("h2", "full"), ("h3", "full"), ("h3", "resumed"), ("h3", "zero_rtt"))
"""HTTP version and handshake of the page's connection; the look-up's is cold and full."""
SLACK_RATIO, SLACK_MS = 0.10, 5.0
REACHED_RATIO = 0.95
OVERHEAD_LIMITS_MS = {"chromium": 150.0, "firefox": 300.0}
PLAN = """
name = "matrix"
question = "Does every cell reach the state asked for, in its round trips?"
seed = 1
blocks = {loads}
[factors]
page = ["example"]
profile = ["{profile}"]
dns_transport = ["{transport}"]
http_version = {versions}
requested_handshake_mode = {handshakes}
browser = ["{browser}"]
[resolver_path]
{transport} = "{path}"
[baseline]
dns_transport = "{transport}"
"""
EXCLUDE = """
[[exclude]]
http_version = ["{version}"]
requested_handshake_mode = {handshakes}
"""


@dataclass(frozen=True, order=True)
class Cell:
    """One browser, one way to a resolver, one HTTP version and handshake."""

    browser: str
    way: str
    http_version: str
    handshake: str

    @property
    def dns_transport(self) -> str:
        """Transport of the look-up."""
        return self.way.partition("-")[2]

    @property
    def trips(self) -> int:
        """Round trips from navigation to first byte."""
        connect = page_handshake_round_trips(self.http_version, self.handshake)
        return cold_exchange_round_trips(self.dns_transport) + connect + 1

    def limits_ms(self, round_trip_ms: float) -> tuple[float, float]:
        """Return what is expected, and by how much the median may be off."""
        expected_ms = self.trips * round_trip_ms
        return expected_ms, SLACK_RATIO * expected_ms + SLACK_MS


def cells(browsers: Sequence[str] = BROWSERS, ways: Sequence[str] = WAYS) -> list[Cell]:
    """Every cell, in the table's order."""
    return [Cell(browser, way, *page) for browser in browsers for way in ways for page in PAGES]


def plan(cells_of_way: Sequence[Cell], *, profile: str, loads: int) -> Plan:
    """Make the plan of cells that share browser and way: what a campaign would run."""
    first = cells_of_way[0]
    path, _, transport = first.way.partition("-")
    versions = list(dict.fromkeys(cell.http_version for cell in cells_of_way))
    handshakes = list(dict.fromkeys(cell.handshake for cell in cells_of_way))
    text = PLAN.format(
        browser=first.browser, path=path, transport=transport, profile=profile, loads=loads,
        versions=versions, handshakes=handshakes,
    )  # fmt: skip
    for version in versions:
        wanted = {cell.handshake for cell in cells_of_way if cell.http_version == version}
        if not_wanted := [handshake for handshake in handshakes if handshake not in wanted]:
            text += EXCLUDE.format(version=version, handshakes=not_wanted)
    return parse_plan(text, f"the plan of {first.browser} {first.way}", Corpus.of_project())
