"""The loads: each browser, resolver path, HTTP version and handshakes of page and resolver.

For: plans. Not for: loads (`verdicts`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.plan import Corpus, Plan, parse_plan

BROWSERS = ["chromium", "firefox"]
WAYS = ["native-doudp", "native-doh", "native-doh3", "stub-dot", "stub-doh", "stub-doq"]
VERSIONS = ("h1", "h2", "h3")
MODES = ("full", "resumed", "zero_rtt")
NEVER = {("chromium", "h1", "zero_rtt"), ("chromium", "h2", "zero_rtt")}
"""Chromium sends no early data over TCP."""
PLAN = """
name = "client-side"
question = "Does the client's side tell what the edge saw?"
seed = 1
blocks = {blocks}
[factors]
page = ["{page}"]
profile = ["{profile}"]
dns_transport = ["{transport}"]
http_version = ["{version}"]
requested_handshake_mode = {modes}
requested_dns_handshake_mode = {dns_modes}
dns_connection_state = {dns_states}
browser = ["{browser}"]
[resolver_path]
{transport} = "{path}"
[baseline]
dns_transport = "{transport}"
requested_handshake_mode = "{first_mode}"
"""
LIMITS = """
[limits]
page_timeout_s = {page_timeout_s}
"""
APART = """
[[exclude]]
requested_handshake_mode = {not_full}
requested_dns_handshake_mode = {dns_not_full}
"""
APART_FROM_WARM = """
[[exclude]]
{aspect} = {not_full}
dns_connection_state = ["warm"]
"""
"""The plan's exclusions: each condition differs in one point from a full handshake over a cold connection."""


@dataclass(frozen=True)
class Group:
    """Loads with a common browser process."""

    browser: str
    way: str
    version: str

    @property
    def modes(self) -> list[str]:
        """The possible handshakes of the page's connection with this browser."""
        return [mode for mode in MODES if (self.browser, self.version, mode) not in NEVER]

    @property
    def has_log(self) -> bool:
        """Return True when the browser writes a log: Firefox writes a log only with its own DoH."""
        return self.browser == "chromium" or self.way in ("native-doh", "native-doh3")

    @property
    def transport(self) -> str:
        """The transport of the look-up."""
        return self.way.partition("-")[2]

    @property
    def dns_modes(self) -> list[str]:
        """The possible handshakes of the resolver's connection with this browser or the stub."""
        if self.transport == "doudp":
            return ["full"]
        early = [] if (self.browser, self.way) == ("chromium", "native-doh") else ["zero_rtt"]
        return ["full", "resumed", *early]

    @property
    def cells_count(self) -> int:
        """The number of conditions in the plan."""
        return len(self.modes) + len(self.dns_modes) - 1 + (self.transport != "doudp")

    def plan(self, *, page: str, profile: str, blocks: int) -> Plan:
        """Make the plan of a campaign with this group."""
        states = ["cold"] if self.transport == "doudp" else ["cold", "warm"]
        text = self._text(page, profile, blocks, self.modes, self.dns_modes, states)
        not_full, dns_not_full = self.modes[1:], self.dns_modes[1:]
        if dns_not_full:
            text += APART.format(not_full=not_full, dns_not_full=dns_not_full)
        if len(states) > 1:
            text += APART_FROM_WARM.format(aspect="requested_handshake_mode", not_full=not_full)
            text += APART_FROM_WARM.format(aspect="requested_dns_handshake_mode", not_full=dns_not_full)
        return self._parse_plan(text)

    def plain_plan(self, *, page: str, profile: str, blocks: int, page_timeout_s: float | None = None) -> Plan:
        """Make a plan of full handshakes over cold connections alone."""
        text = self._text(page, profile, blocks, ["full"], ["full"], ["cold"])
        return self._parse_plan(text + ("" if page_timeout_s is None else LIMITS.format(page_timeout_s=page_timeout_s)))

    def _text(
        self, page: str, profile: str, blocks: int, modes: list[str], dns_modes: list[str], dns_states: list[str]
    ) -> str:
        return PLAN.format(
            browser=self.browser, path=self.way.partition("-")[0], transport=self.transport, version=self.version,
            page=page, profile=profile, blocks=blocks, modes=modes, first_mode=modes[0], dns_modes=dns_modes,
            dns_states=dns_states,
        )  # fmt: skip

    def _parse_plan(self, text: str) -> Plan:
        return parse_plan(text, f"the plan of {self.browser} {self.way}", Corpus.from_project())


def groups(browsers: Sequence[str], ways: Sequence[str], versions: Sequence[str] = VERSIONS) -> list[Group]:
    """Return every group, in the table's order; h1 only with native DoUDP, because browsers' DoH excludes h1."""
    everything = [Group(browser, way, version) for browser in browsers for way in ways for version in versions]
    return [one for one in everything if one.version != "h1" or one.way == "native-doudp"]
