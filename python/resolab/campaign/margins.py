"""The equivalence margin of each comparison in milliseconds, for the link of its conditions.

For: deciding comparisons within their margin. Not for: the definition of a margin (`plan`).
"""

from collections.abc import Sequence

from resolab.basics.records import LinkProfile
from resolab.plan import Plan
from resolab.plan.access_link import access_rtt_ms


def margins_ms(plan: Plan, profiles: Sequence[LinkProfile]) -> dict[str, float]:
    """Return the margins by the comparisons' identifiers.

    The result is empty without a margin in the plan, and leaves out links without a round trip time.
    """
    margin = plan.analysis.equivalence_margin
    if margin is None:
        return {}
    rtt_ms = {one.name: access_rtt_ms(one) for one in profiles}
    # The real network has no round trip of its own, and its plans no margin in round trips.
    found = {one.id: margin.compute_ms(rtt_ms.get(one.treatment.profile, 0.0)) for one in plan.comparisons()}
    return {name: margin_ms for name, margin_ms in found.items() if margin_ms}
