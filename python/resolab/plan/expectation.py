"""How long a plan's run will take, roughly, before anything has run.

For: telling an hour from a night. Not for: the run's own estimate of its end; that counts its trials.

A trial is our client's cold exchanges, a warm-up load, the close of all connections and the measured load. On two cores
a trial with Chromium took 1.1 s (a page of one request) to 1.25 s (five requests) plus 12 to 15 round trips of the
profile (192 trials of the quick plan, medians per page and profile). Firefox adds what its loads cost more beside their
page load time.
"""

from collections.abc import Mapping

from resolab.plan.model import Condition, Plan
from resolab.records import BrowserName

TRIAL_S: Mapping[BrowserName, float] = {BrowserName.CHROMIUM: 1.2, BrowserName.FIREFOX: 1.5}
TRIAL_ROUND_TRIPS = 13.5
RESOLVER_ROUND_TRIPS = 8
"""Of them, those of cold exchanges and look-ups; counted from the closed forms of three transports."""


def expected_duration_s(plan: Plan, rtt_ms: Mapping[str, float], blocks: int | None = None) -> float:
    """Estimate the seconds the trials of all blocks take, or of some, set-up not counted; `rtt_ms` by profile.

    Several paths share the trials of a block; what they cost each other is not in it.
    """
    trials_s = [
        TRIAL_S[condition.browser] + _trial_round_trips_s(condition, rtt_ms[condition.profile])
        for condition in plan.conditions()
    ]
    # A block has ended only when its longest trial has.
    block_s = max(sum(trials_s) / plan.instrument.paths, *trials_s)
    return (plan.blocks if blocks is None else blocks) * block_s


def _trial_round_trips_s(condition: Condition, rtt_ms: float) -> float:
    """Seconds a trial waits for the link; some of its round trips go on to the resolver."""
    return (TRIAL_ROUND_TRIPS * rtt_ms + RESOLVER_ROUND_TRIPS * condition.resolver_extra_rtt_ms) / 1e3
