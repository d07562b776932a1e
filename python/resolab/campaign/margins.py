"""The equivalence margin of each comparison in milliseconds, on the link its conditions have.

For: the rule that a comparison within its margin is decided. Not for: what a margin is (`plan`).
"""

from collections.abc import Sequence

from resolab.plan import Plan
from resolab.plan.access_link import access_rtt_ms
from resolab.records import LinkProfile


def margins_ms(plan: Plan, profiles: Sequence[LinkProfile]) -> dict[str, float]:
    """Return the margins by the comparisons' identifiers; none where the plan has none, or the link no round trip."""
    margin = plan.analysis.equivalence_margin
    if margin is None:
        return {}
    rtt_ms = {one.name: access_rtt_ms(one) for one in profiles}
    # The real network has no round trip of its own, and its plans no margin in round trips.
    found = {one.id: margin.of(rtt_ms.get(one.treatment.profile, 0.0)) for one in plan.comparisons()}
    return {name: margin_ms for name, margin_ms in found.items() if margin_ms}
