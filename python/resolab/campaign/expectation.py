"""How long a plan's run will take, before anything has run: what a trial waits for the link, and what it costs besides.

For: telling an hour from a night. Not for: the run's own estimate of its end; that counts its trials.

A trial is our client's queries, a warm-up load, the close of all connections and the measured load; a browser is
started where more ways are needed than may live. What waits for the link is the closed form of page and profile
(`T = k x RTT + bytes x 8 / rate`), with the timeouts that losses cost. What it costs besides was measured on two cores
(docs/benchmarks.md): medians of whole runs, so that a busy machine takes longer than is said here.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from resolab.browser.chromium.driver import DOH_PROBE_DELAY_S
from resolab.campaign.page_time import Link, PageSize, load_link_s, query_link_s
from resolab.campaign.schedule import schedule
from resolab.plan import Condition, Corpus, Plan
from resolab.records import BrowserName, ConnectionState, HandshakeMode, LinkProfile, ResolverCache
from resolab.testbed.browsers import LIVE_LIMIT, RENEWED_AFTER_COUNT
from resolab.testbed.distance import longest_rtt_ms, page_rtt_ms, resolver_rtt_ms, with_page_at, with_resolver_at
from resolab.testbed.sites import sites_of
from resolab.testbed.testbed import SETTLE_MS
from resolab.testbed.ways import Way, looks_up, probes, warms_up, way_of


@dataclass(frozen=True, slots=True)
class BrowserCost:
    """Seconds of this machine's own that a browser takes, whatever the link."""

    start_s: float
    """From starting a process to its first load."""
    trial_s: float
    """Of a trial beside its loads: contexts, clearing, our client, commands, the trial's file."""
    warm_up_s: float
    """Of a warm-up more than of a measured load: a window opens beside it."""
    load_s: float
    """Of a load: of its document, ..."""
    request_s: float
    """... of each request beside it, ..."""
    megabyte_s: float
    """... and of what comes: decrypting, decoding, computing, drawing."""


COSTS: Mapping[BrowserName, BrowserCost] = {
    BrowserName.CHROMIUM: BrowserCost(
        start_s=1.0, trial_s=0.2, warm_up_s=0.1, load_s=0.04, request_s=0.005, megabyte_s=0.3
    ),
    BrowserName.FIREFOX: BrowserCost(
        start_s=3.0, trial_s=0.25, warm_up_s=0.15, load_s=0.06, request_s=0.004, megabyte_s=0.3
    ),
}


def expected_duration_s(plan: Plan, corpus: Corpus, blocks: int | None = None) -> float:
    """Estimate the seconds all blocks of a run take, or some of them, browsers' starts included.

    What several paths cost each other is not in it.
    """
    return _Expectation(plan, corpus).run_s(plan.blocks if blocks is None else blocks)


class _Expectation:
    def __init__(self, plan: Plan, corpus: Corpus) -> None:
        self._plan = plan
        self._profiles = {name: corpus.profile(name) for name in plan.factors.profile}
        self._sites = sites_of(corpus, plan.factors.page)
        self._sizes = {page: PageSize.of(site) for page, site in self._sites.items()}

    def run_s(self, blocks: int) -> float:
        """Trials of a block share the paths; it has ended only when its longest trial has."""
        trials_s = [self._trial_s(condition) for condition in self._plan.conditions()]
        block_s = max(sum(trials_s) / self._plan.instrument.paths, *trials_s)
        return blocks * block_s + self._starts_s(blocks)

    def _starts_s(self, blocks: int) -> float:
        """Walk through the run as it will be: its order says which browsers have to be started.

        Several paths start their own, at the same time.
        """
        living: OrderedDict[Way, int] = OrderedDict()
        total_s = 0.0
        for trial in schedule(self._plan, self._plan.seed, blocks):
            way = way_of(trial.condition)
            count = living.pop(way, RENEWED_AFTER_COUNT)
            if count >= RENEWED_AFTER_COUNT:
                total_s += self._start_s(trial.condition)
                count = 0
            living[way] = count + 1
            if len(living) > LIVE_LIMIT:
                living.popitem(last=False)
        return total_s

    def _start_s(self, condition: Condition) -> float:
        """Seconds until a new browser has loaded the page once."""
        waiting_s = DOH_PROBE_DELAY_S if probes(way_of(condition)) else 0.0
        return (
            COSTS[condition.browser].start_s + waiting_s + self._load_s(condition, HandshakeMode.FULL, warm_dns=False)
        )

    def _trial_s(self, condition: Condition) -> float:
        profile = self._profile(condition)
        cost = COSTS[condition.browser]
        total_s = cost.trial_s + self._queries_s(condition) + (longest_rtt_ms(profile) + SETTLE_MS) / 1e3
        if warms_up(condition):
            total_s += cost.warm_up_s + self._load_s(condition, HandshakeMode.FULL, warm_dns=False)
        warm_dns = condition.dns_connection_state is ConnectionState.WARM
        return total_s + self._load_s(condition, condition.requested_handshake_mode, warm_dns=warm_dns)

    def _queries_s(self, condition: Condition) -> float:
        """Seconds of our own client's queries: each transport's, one after the other."""
        link, delay_s = self._link(condition), self._answer_delay_s(condition)
        names_count = 1 + min(self._plan.queries.warm_count, self._sizes[condition.page].names_count - 1)
        return sum(
            query_link_s(transport, link, names_count=names_count) + names_count * delay_s
            for transport in self._plan.factors.dns_transport
        )

    def _load_s(self, condition: Condition, handshake: HandshakeMode, *, warm_dns: bool) -> float:
        size, cost = self._sizes[condition.page], COSTS[condition.browser]
        link_s = load_link_s(
            size,
            self._link(condition),
            dns_transport=condition.dns_transport if looks_up(condition) else None,
            dns_handshake_mode=condition.requested_dns_handshake_mode,
            warm_dns=warm_dns,
            http_version=condition.http_version,
            handshake_mode=handshake,
        )
        lookups_count = 0 if not looks_up(condition) else 1 if size.names_count == 1 else 2
        own_s = cost.load_s + (size.requests_count - 1) * cost.request_s + size.body_bytes / 1e6 * cost.megabyte_s
        return min(link_s + lookups_count * self._answer_delay_s(condition) + own_s, self._plan.limits.page_timeout_s)

    def _link(self, condition: Condition) -> Link:
        profile = self._profile(condition)
        rtt_ms = page_rtt_ms(profile, self._sites[condition.page])
        return Link.of(profile, rtt_s=rtt_ms / 1e3, resolver_rtt_s=resolver_rtt_ms(profile) / 1e3)

    def _profile(self, condition: Condition) -> LinkProfile:
        profile = with_page_at(self._profiles[condition.profile], self._sites[condition.page])
        return with_resolver_at(profile, condition.resolver_extra_rtt_ms)

    def _answer_delay_s(self, condition: Condition) -> float:
        return self._plan.resolver.miss_delay_ms / 1e3 if condition.resolver_cache is ResolverCache.MISS else 0.0
