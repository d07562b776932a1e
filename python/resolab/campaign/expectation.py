"""Estimate the duration of a plan's run beforehand: the time waiting for the link, and the machine's own time.

For: telling an hour from a night. Not for: the estimate during the run, made from the run's own trials.

A trial is our client's queries, a warm-up load, the close of all connections and the measured load. A browser is
started again when the plan needs more browsers than may live at once. The time for the link is the closed form of page
and profile (`T = k x RTT + bytes x 8 / rate`), with the timeouts for losses. The machine's own time was measured on two
cores (docs/benchmarks.md) as medians of whole runs, so a busy machine takes longer than estimated.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from resolab.basics.records import BrowserKind, ConnectionState, HandshakeMode, LinkProfile, ResolverCache, TrialKind
from resolab.browser.chromium.driver import DOH_PROBE_DELAY_S
from resolab.campaign.live_expectation import estimate_live_duration_s
from resolab.campaign.page_time import AccessLink, PageSize, clone_link_s, load_link_s, query_link_s
from resolab.campaign.schedule import PlannedTrial, schedule
from resolab.lab.distance import longest_rtt_ms, move_page, move_resolver, page_rtt_ms, resolver_rtt_ms
from resolab.lab.engine.programs import QUERY_TIMEOUT_S
from resolab.lab.sites import assign_sites
from resolab.pages.path import lab_load_ms, move_to_lab
from resolab.plan import Condition, Corpus, Plan, block_order, page_order
from resolab.trials.client_runner import SETTLE_MS as CLIENT_SETTLE_MS
from resolab.trials.page_load.browser_setup import BrowserSetup, choose_way, looks_up, probes, warms_up
from resolab.trials.page_load.browsers import LIVE_LIMIT, RENEWED_AFTER_COUNT
from resolab.trials.page_load.runner import SETTLE_MS

PAGES_LOOKED_AT_COUNT = 24
"""The number of first pages examined for a plan sampling pages; drawn at random, these pages represent all others."""


@dataclass(frozen=True, slots=True)
class BrowserCost:
    """The machine's own time for a browser, in s, independent of the link."""

    start_s: float
    """The time from starting a process to the first load, in s."""
    trial_s: float
    """The time of a trial beside the loads, in s: contexts, clearing, our client, commands, the trial's file."""
    warm_up_s: float
    """The extra time of a warm-up over a measured load, in s: a window opens beside the load."""
    load_s: float
    """The time of a load's document, in s."""
    request_s: float
    """The time of each further request, in s."""
    megabyte_s: float
    """The time per received megabyte, in s: decrypting, decoding, computing, drawing."""


_CHROMIUM_COST = BrowserCost(start_s=1.0, trial_s=0.2, warm_up_s=0.1, load_s=0.04, request_s=0.005, megabyte_s=0.3)
COSTS: Mapping[BrowserKind, BrowserCost] = {
    BrowserKind.CHROMIUM: _CHROMIUM_COST,
    BrowserKind.CHROMIUM_HEADLESS_SHELL: _CHROMIUM_COST,
    BrowserKind.FIREFOX: BrowserCost(
        start_s=3.0, trial_s=0.25, warm_up_s=0.15, load_s=0.06, request_s=0.004, megabyte_s=0.3
    ),
}


CLIENT_COST_S = 0.06
"""The machine's own time for an exchange or a fetch, in s: the client's process, commands, the trial's file."""
FETCH_ROUND_TRIPS = 2
"""The round trips of a document on its own connection: a handshake and a request."""


def estimate_duration_s(plan: Plan, corpus: Corpus, blocks: int | None = None) -> float:
    """Return the expected seconds of all or some blocks of a run, including browser starts.

    The mutual slowdown of several paths is not included.
    """
    count = plan.blocks if blocks is None else blocks
    if plan.live is not None:
        return estimate_live_duration_s(plan, count)
    pages = (
        page_order(plan, plan.seed)[: min(count, PAGES_LOOKED_AT_COUNT)] if plan.samples_pages else plan.factors.page
    )
    return _DurationEstimate(plan, corpus, pages).run_s(count)


class _DurationEstimate:
    def __init__(self, plan: Plan, corpus: Corpus, pages: Sequence[str]) -> None:
        """Take a few pages as representatives when a plan samples pages, in the order of loading."""
        self._plan = plan
        self._profiles = {name: corpus.profile(name) for name in plan.factors.profile}
        self._sites = assign_sites(corpus, pages, plan.pages.distances)
        self._pages = pages
        self._sizes = {page: PageSize.from_page(site) for page, site in self._sites.items()}
        self._models = {page: corpus.model(page) for page in pages if corpus.is_model(page)}
        self._graphs_s: dict[tuple[str, str], float] = {}
        """The load time of a page model with a profile, in s."""
        self._links: dict[tuple[str, str, float], tuple[LinkProfile, AccessLink]] = {}
        """The link shared by conditions of a page, a profile and a distance. For a page with many hosts its computation
        takes time."""

    def run_s(self, blocks: int) -> float:
        """Return the time of blocks and browser starts; blocks hold the same trials, or each block has its own page."""
        if not self._plan.samples_pages:
            return blocks * self._block_s(self._plan.conditions()) + self._starts_s(blocks)
        looked_at = range(len(self._pages))
        blocks_s = [self._block_s(block_order(self._plan, self._plan.seed, block)) for block in looked_at]
        return blocks * fmean(blocks_s) + self._starts_s(blocks) if blocks else 0.0

    def _block_s(self, conditions: Sequence[Condition]) -> float:
        """Return the time of a block, at least the time of its longest trial.

        The trials of a block share the paths.
        """
        trials_s = [self._trial_s(condition) for condition in conditions]
        return max(sum(trials_s) / self._plan.instrument.paths, *trials_s)

    def _starts_s(self, blocks: int) -> float:
        """Simulate the run's order and return the time of browser starts.

        Each path starts its own browsers, at the same time.
        """
        if self._plan.kind is not TrialKind.PAGE_LOAD:
            return 0.0
        living: OrderedDict[BrowserSetup, int] = OrderedDict()
        total_s = 0.0
        for trial in schedule(self._plan, self._plan.seed, blocks):
            way = choose_way(trial.condition)
            count = living.pop(way, RENEWED_AFTER_COUNT)
            if count >= RENEWED_AFTER_COUNT:
                total_s += self._start_s(self._choose_examined_page(trial))
                count = 0
            living[way] = count + 1
            if len(living) > LIVE_LIMIT:
                living.popitem(last=False)
        return total_s

    def _choose_examined_page(self, trial: PlannedTrial) -> Condition:
        """Replace a page not examined by an examined page."""
        if not self._plan.samples_pages:
            return trial.condition
        return replace(trial.condition, page=self._pages[trial.block % len(self._pages)])

    def _start_s(self, condition: Condition) -> float:
        """Return the seconds until a new browser has loaded the page once."""
        waiting_s = DOH_PROBE_DELAY_S if probes(choose_way(condition)) else 0.0
        return (
            COSTS[condition.browser_kind].start_s
            + waiting_s
            + self._load_s(condition, HandshakeMode.FULL, warm_dns=False)
        )

    def _trial_s(self, condition: Condition) -> float:
        if condition.kind is not TrialKind.PAGE_LOAD:
            return self._client_trial_s(condition)
        profile = self._profile(condition)
        cost = COSTS[condition.browser_kind]
        total_s = cost.trial_s + self._queries_s(condition) + (longest_rtt_ms(profile) + SETTLE_MS) / 1e3
        if warms_up(condition):
            total_s += cost.warm_up_s + self._load_s(condition, HandshakeMode.FULL, warm_dns=False)
        warm_dns = condition.dns_connection_state is ConnectionState.WARM
        return total_s + self._load_s(condition, condition.requested_handshake_mode, warm_dns=warm_dns)

    def _client_trial_s(self, condition: Condition) -> float:
        """Return the seconds of a trial of our own client."""
        settle_s = (longest_rtt_ms(self._profile(condition)) + CLIENT_SETTLE_MS) / 1e3
        if self._plan.study is None:
            return CLIENT_COST_S + settle_s + self._client_s(condition)
        rtt_ms = self._link(condition).resolver_rtt_s * 1e3
        return CLIENT_COST_S + settle_s + self._plan.study.estimate_trial_s(condition, rtt_ms)

    def _client_s(self, condition: Condition) -> float:
        """Return the seconds of an exchange or a fetch, with a priming or a warm-up query before it."""
        is_warm = condition.dns_connection_state is ConnectionState.WARM
        is_primed = not is_warm and condition.requested_dns_handshake_mode is not HandshakeMode.FULL
        link = self._link(condition)
        query_s = min(query_link_s(condition.dns_transport, link, names_count=1), QUERY_TIMEOUT_S)
        if condition.kind is TrialKind.FETCH:
            query_s += FETCH_ROUND_TRIPS * link.rtt_s
        asked_s = (2 if is_warm or is_primed else 1) * (query_s + self._answer_delay_s(condition))
        return asked_s + (condition.idle_gap_ms / 1e3 if is_warm else 0.0)

    def _queries_s(self, condition: Condition) -> float:
        """Return the seconds of our own client's queries: over each transport, one after the other."""
        link, delay_s = self._link(condition), self._answer_delay_s(condition)
        names_count = 1 + min(self._plan.queries.warm_count, self._sizes[condition.page].names_count - 1)
        return sum(
            # A link that loses everything ends each query by its timeout.
            min(query_link_s(transport, link, names_count=names_count), names_count * QUERY_TIMEOUT_S)
            + names_count * delay_s
            for transport in self._plan.factors.dns_transport
        )

    def _load_s(self, condition: Condition, handshake: HandshakeMode, *, warm_dns: bool) -> float:
        size, cost = self._sizes[condition.page], COSTS[condition.browser_kind]
        link_s = self._load_link_s(condition, handshake, warm_dns=warm_dns)
        lookups_count = 0 if not looks_up(condition) else 1 if size.names_count == 1 else 2
        own_s = cost.load_s + (size.requests_count - 1) * cost.request_s + size.body_bytes / 1e6 * cost.megabyte_s
        return min(link_s + lookups_count * self._answer_delay_s(condition) + own_s, self._plan.limits.page_timeout_s)

    def _load_link_s(self, condition: Condition, handshake: HandshakeMode, *, warm_dns: bool) -> float:
        size, link = self._sizes[condition.page], self._link(condition)
        transport = condition.dns_transport if looks_up(condition) else None
        if condition.page in self._models:
            graph_s = self._graph_s(condition)
            return clone_link_s(size, link, graph_s, dns_transport=transport, warm_dns=warm_dns)
        return load_link_s(
            size,
            link,
            dns_transport=transport,
            dns_handshake_mode=condition.requested_dns_handshake_mode,
            warm_dns=warm_dns,
            http_version=condition.http_version,
            handshake_mode=handshake,
        )

    def _graph_s(self, condition: Condition) -> float:
        key = condition.page, condition.profile
        if key not in self._graphs_s:
            profile = self._profiles[condition.profile]
            self._graphs_s[key] = lab_load_ms(move_to_lab(self._models[condition.page], profile), profile) / 1e3
        return self._graphs_s[key]

    def _link(self, condition: Condition) -> AccessLink:
        return self._resolve_link(condition)[1]

    def _profile(self, condition: Condition) -> LinkProfile:
        return self._resolve_link(condition)[0]

    def _resolve_link(self, condition: Condition) -> tuple[LinkProfile, AccessLink]:
        key = condition.page, condition.profile, condition.resolver_extra_rtt_ms
        if key not in self._links:
            site = self._sites[condition.page]
            profile = move_resolver(move_page(self._profiles[condition.profile], site), condition.resolver_extra_rtt_ms)
            rtt_s, resolver_rtt_s = page_rtt_ms(profile, site) / 1e3, resolver_rtt_ms(profile) / 1e3
            self._links[key] = profile, AccessLink.from_profile(profile, rtt_s=rtt_s, resolver_rtt_s=resolver_rtt_s)
        return self._links[key]

    def _answer_delay_s(self, condition: Condition) -> float:
        ratio = 1.0 if condition.resolver_cache is ResolverCache.MISS else condition.resolver_miss_ratio
        return ratio * self._plan.resolver.miss_delay_ms / 1e3
