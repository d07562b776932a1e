"""The settings of a part of `bench gateway`, and plans with a gateway for its testbeds.

For: shapes and the text of a plan. Not for: measuring or printing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.common.progress import Progress
from resolab.plan import Corpus, Plan, parse_plan

_PLAN = """
name = "bench-gateway"
question = "What does a load through the gateway come to?"
seed = 1
blocks = 1
[factors]
page = ["{page}"]
profile = ["{profile}"]
dns_transport = ["doh3"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
requested_dns_handshake_mode = ["full", "zero_rtt"]
connection_sharing = ["separate", "resolver_connection"]
speculation = ["off", "document"]
browser = ["{browser}"]
[resolver_path]
doh3 = ["{native}", "gateway"]
[[exclude]]
requested_handshake_mode = ["full"]
requested_dns_handshake_mode = ["zero_rtt"]
[[exclude]]
requested_handshake_mode = ["zero_rtt"]
requested_dns_handshake_mode = ["full"]
[[exclude]]
resolver_path = ["{native}"]
connection_sharing = ["resolver_connection"]
[[exclude]]
connection_sharing = ["separate"]
speculation = ["document"]
[baseline]
resolver_path = "gateway"
connection_sharing = "separate"
speculation = "off"
[instrument]
keep_awake = true
"""


@dataclass(frozen=True)
class GatewayBench:
    """The settings of the parts."""

    quick: bool
    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    browsers: Sequence[str]
    loads_count: int
    """The number of loads of each cell of `round_trips`."""
    pages: Sequence[str]
    """The names of page models for `corpus`."""


def plan(page: str, profile: str, browser: str) -> Plan:
    """Make a plan of all the gateway's arms on one page; Firefox lacks DoH3 and uses a stub."""
    native = "native" if browser == "chromium" else "stub"
    text = _PLAN.format(page=page, profile=profile, browser=browser, native=native)
    return parse_plan(text, "bench-gateway", Corpus.from_project())
