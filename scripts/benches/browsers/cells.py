"""The cells of the matrix and the expected time of each from navigation to first byte.

For: closed forms and plans. Not for: loading pages (`measure`).

The expectation is a count of round trips: of the look-up, of the connection, and one for the request. The count leaves
out the link's rate on `4g` (a server's certificate and the document are some thousand bytes: below 1 ms).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.basics.protocols import DNS_TRANSPORTS, cold_exchange_round_trips, page_handshake_round_trips
from resolab.plan import Corpus, Plan, parse_plan

BROWSERS = ["chromium", "firefox"]
WAYS = [
    *(f"native-{transport}" for transport in ("doudp", "doh", "doh3")),
    *(f"stub-{transport}" for transport in DNS_TRANSPORTS),
]
"""The resolver paths: native or stub, and the transport."""
PAGES = (("h2", "full"), ("h3", "full"), ("h3", "resumed"), ("h3", "zero_rtt"))
"""HTTP version and handshake of the page's connection; the look-up's handshake is cold and full."""
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
class BrowserCell:
    """A browser with a resolver path, an HTTP version and a handshake."""

    browser: str
    way: str
    http_version: str
    handshake: str

    @property
    def dns_transport(self) -> str:
        """The transport of the look-up."""
        return self.way.partition("-")[2]

    @property
    def trips(self) -> int:
        """The round trips from navigation to first byte."""
        connect = page_handshake_round_trips(self.http_version, self.handshake)
        return cold_exchange_round_trips(self.dns_transport) + connect + 1

    def limits_ms(self, round_trip_ms: float) -> tuple[float, float]:
        """Return the expectation and the allowed deviation of the median."""
        expected_ms = self.trips * round_trip_ms
        return expected_ms, SLACK_RATIO * expected_ms + SLACK_MS


def cells(browsers: Sequence[str] = BROWSERS, ways: Sequence[str] = WAYS) -> list[BrowserCell]:
    """Return every cell, in the table's order."""
    return [BrowserCell(browser, way, *page) for browser in browsers for way in ways for page in PAGES]


def plan(cells_of_way: Sequence[BrowserCell], *, profile: str, loads: int) -> Plan:
    """Make the plan of cells with a common browser and resolver path, as for a campaign."""
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
    return parse_plan(text, f"the plan of {first.browser} {first.way}", Corpus.from_project())
