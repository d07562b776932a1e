"""Every configuration against Do53 to the same resolver, with the closed form of the difference.

For: the pairs of Figs. 4 and 5 of Hounsel et al. Not for: drawing (`differences`), or their medians (`networks`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.protocols import lookup_round_trips
from resolab.report.live.configurations.loads import (
    Configuration,
    Loads,
    PairKey,
    difference_curve,
    list_levels,
    pool_pairs,
)
from resolab.report.plots.difference_cdfs import DifferenceCurve
from resolab.store.outcomes import LoadOutcome
from resolab.store.trial_loads import TrialLoadRow


@dataclass(frozen=True, slots=True)
class Do53Difference:
    """A configuration against Do53 to the same resolver on a network."""

    profile: str
    configuration: Configuration
    expected_ms: float
    """The closed form: extra round trips of a lookup times the round-trip time to the resolver."""
    connection: str
    """The connection state of the lookups; the next field holds their requested handshake."""
    handshake_mode: str
    curve: DifferenceCurve


def find_reference(configuration: Configuration, among: Sequence[Configuration]) -> Configuration | None:
    """Find Do53 to the same resolver in the same browser and settings, with the most common further levels."""
    own = (configuration.resolver, configuration.browser)
    found = [one for one in among if one.dns_transport == "doudp" and (one.resolver, one.browser) == own]
    return max(found, key=lambda one: len(set(one.further) & set(configuration.further)), default=None)


def compare_with_do53(
    loads: Loads, rtt_ms: Mapping[str, float], level: float, outcome: LoadOutcome
) -> list[Do53Difference]:
    """Compare every configuration with Do53 to the same resolver, in the order of the access links in `rtt_ms`."""
    found = []
    for profile, rtt in rtt_ms.items():
        arms = loads.get(profile, {})
        for configuration, arm in arms.items():
            reference = find_reference(configuration, list(arms))
            if reference is None or configuration.dns_transport == "doudp":
                continue
            pairs = pool_pairs(arm, arms[reference], outcome)
            if pairs.places:
                expected = _lookup_ms(rtt, arm) - _lookup_ms(rtt, arms[reference])
                key = {
                    "profile": profile,
                    **list_levels("treatment", configuration),
                    **list_levels("baseline", reference),
                }
                key |= {"closed_form_ms": expected}
                one = next(iter(arm.values()))
                asked = (one.dns_connection_state, one.requested_dns_handshake_mode)
                curve = difference_curve(pairs, key, level)
                found.append(Do53Difference(profile, configuration, expected, *asked, curve))
    return found


def _lookup_ms(rtt_ms: float, loads: Mapping[PairKey, TrialLoadRow]) -> float:
    one = next(iter(loads.values()))
    trips = lookup_round_trips(one.dns_transport, one.requested_dns_handshake_mode, one.dns_connection_state)
    return trips * (rtt_ms + one.resolver_extra_rtt_ms)
