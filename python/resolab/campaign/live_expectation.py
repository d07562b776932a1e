"""List the contacts of a live plan and estimate its duration, before any contact.

For: `resolab run --dry-run` and `resolab plan check`; pure. Not for: the estimate during the run, or the lab's estimate
(`expectation`).

The load time of a stranger's page is unknown beforehand; the assumptions are constants in this file. The caps are
certain.
"""

from collections import Counter
from dataclasses import dataclass

from resolab.campaign.schedule import PlannedTrial, schedule
from resolab.plan import Plan
from resolab.plan.manners import HARD_CAPS, PINGS_PER_LOAD, Caps, Contact, PlannedContacts, contacts
from resolab.trials.live.own_client import PING_PAUSE_MS, ROUNDS, TYPES
from resolab.trials.live.trial import QUERIES_PER_NAME

NAMES_COUNT = 10
"""The assumed number of names of a page."""
LOAD_S = 3.0
ROUND_TRIP_S = 0.03
OVERHEAD_S = 1.5
"""The assumed time of contexts, logs, the stub, the trial's file, and a share of a browser's start, in s."""
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class LiveRunEstimate:
    """The expected contacts, trials and duration of a run."""

    contacts: list[Contact]
    trials_count: int
    expected_s: float
    loads_an_hour: float


def estimate_live_run(plan: Plan, system: str | None) -> LiveRunEstimate:
    """Estimate a run; `system` is the machine's own name server, possibly named in a plan without an address."""
    assert plan.live is not None
    trials = schedule(plan, plan.seed, plan.blocks)
    caps = HARD_CAPS.lower(plan.live.caps)
    expected_s = _estimate_s(trials, caps)
    return LiveRunEstimate(
        contacts=contacts(_plan_contacts(plan, trials, system), caps),
        trials_count=len(trials),
        expected_s=expected_s,
        loads_an_hour=len(trials) / expected_s * HOUR_S if trials else 0.0,
    )


def estimate_live_duration_s(plan: Plan, blocks: int) -> float:
    """Return the expected seconds of `blocks` blocks of a live plan."""
    assert plan.live is not None
    return _estimate_s(schedule(plan, plan.seed, blocks), HARD_CAPS.lower(plan.live.caps))


def _estimate_s(trials: list[PlannedTrial], caps: Caps) -> float:
    """Return the sum of the trials' times, or the wait for the tightest cap if longer."""
    queries_s = len(TYPES) * ROUNDS * NAMES_COUNT * (ROUND_TRIP_S + caps.query_interval_ms / 1e3)
    pings_s = PINGS_PER_LOAD * (ROUND_TRIP_S + PING_PAUSE_MS / 1e3)
    queries_count = (len(TYPES) * ROUNDS + QUERIES_PER_NAME) * NAMES_COUNT
    over = Counter(trial.condition.resolver for trial in trials)
    of_site = Counter(trial.condition.page for trial in trials)
    waits_s = [
        _compute_cap_wait_s(len(trials), caps.loads_per_hour),
        *(_compute_cap_wait_s(count * queries_count, caps.queries_per_resolver_per_hour) for count in over.values()),
        *(_compute_cap_wait_s(count, caps.loads_per_site_per_hour) for count in of_site.values()),
    ]
    return max(len(trials) * (LOAD_S + queries_s + pings_s + OVERHEAD_S), *waits_s)


def _compute_cap_wait_s(count: int, per_hour: int) -> float:
    """Return the wait for a cap, in s, when the first hour's quota is available at once."""
    return max(0, count - 1) // per_hour * HOUR_S


def _plan_contacts(plan: Plan, trials: list[PlannedTrial], system: str | None) -> PlannedContacts:
    live = plan.live
    assert live is not None
    loads_of = Counter(live.sites[trial.condition.page].url for trial in trials)
    over = Counter((trial.condition.resolver, trial.condition.dns_transport) for trial in trials)
    own = None if system is None else _udp(system)
    endpoints = {pair: live.resolvers[pair[0]].endpoints[pair[1]] for pair in over}
    words = {pair: one.url if one.host else own for pair, one in endpoints.items()}
    return PlannedContacts(
        urls=list(loads_of),
        loads_of=loads_of,
        resolvers=[(url, over[pair]) for pair, url in words.items() if url is not None],
        system_resolver=own,
        opt_out=live.opt_out,
        batches_count=plan.blocks,
    )


def _udp(address: str) -> str:
    return f"udp://[{address}]" if ":" in address else f"udp://{address}"
