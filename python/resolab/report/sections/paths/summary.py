"""Critical paths by arm, with the uncertainty of each number.

For: medians over loads. Not for: finding paths (`loads`) or printing.

An arm is a condition without its page. Loads of a page are similar, so a page is a cluster. Medians over several pages
have an interval over pages; medians of a single page have an interval over its loads.
"""

from collections.abc import Sequence

import msgspec

from resolab.basics.records import HandshakeMode
from resolab.pages.path import LoadConnections, PhaseKind
from resolab.report.sections.paths.loads import LoadPath
from resolab.stats import Estimate, Sample, estimate_clustered_median

_NS = 1_000_000


class PathSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Medians over the loads of an arm."""

    arm: str
    loads_count: int
    pages_count: int
    load_ms: Estimate
    shares_ratio: dict[str, Estimate]
    """Shares of the load time, by part; medians need not sum up to 1."""
    lookup_ms: Estimate
    """Time of lookups on the path."""
    predicted_lookup_ms: Estimate
    """The same time by the closed form: round trips of the blocking lookups, and of the connection to the resolver."""
    blocking_lookups_count: Estimate
    lookups_count: Estimate
    connections: dict[str, Estimate]
    """Counts by name: `connections`, `unused`, `failed`, handshake modes, and `names`, `sharing_names` and
    `may_share_names`."""
    with_untold_count: int
    """Loads with unobserved requests; their real path may differ."""


def path_summaries(paths: Sequence[LoadPath]) -> list[PathSummary]:
    """Summarise the loads of each arm, in the order of first occurrence."""
    arms: dict[str, list[LoadPath]] = {}
    for one in paths:
        arms.setdefault(one.arm, []).append(one)
    return [_summary(arm, loads) for arm, loads in arms.items()]


def _summary(arm: str, loads: Sequence[LoadPath]) -> PathSummary:
    pages = [one.trial.page for one in loads]

    def median(values: Sequence[float]) -> Estimate:
        return _median(values, pages)

    served = [(one.trial.page, _counts(one.connections)) for one in loads if one.connections is not None]
    return PathSummary(
        arm=arm,
        loads_count=len(loads),
        pages_count=len(set(pages)),
        load_ms=median([one.path.load_ns / _NS for one in loads]),
        shares_ratio={part.value: median([one.path.share_ratio(part) for one in loads]) for part in PhaseKind},
        lookup_ms=median([one.path.parts_ns.get(PhaseKind.DNS, 0) / _NS for one in loads]),
        predicted_lookup_ms=median([one.predicted.lookup_ms for one in loads]),
        blocking_lookups_count=median([len(one.path.blocking_hosts) for one in loads]),
        lookups_count=median([len(one.path.lookup_hosts) for one in loads]),
        connections={
            what: _median([counts[what] for _, counts in served], [page for page, _ in served])
            for what in (served[0][1] if served else ())
        },
        with_untold_count=sum(one.path.untold_count > 0 for one in loads),
    )


def _median(values: Sequence[float], pages: Sequence[str]) -> Estimate:
    # The loads of one page are what was sampled where there is no other page.
    clusters = pages if len(set(pages)) > 1 else range(len(values))
    return estimate_clustered_median(Sample.exact(values), clusters)


def _counts(found: LoadConnections) -> dict[str, int]:
    return {
        "connections": found.connections_count,
        "unused": found.unused_count,
        "failed": found.failed_count,
        **{mode.value: found.handshakes_count.get(mode.value, 0) for mode in HandshakeMode},
        "names": found.names_count,
        "sharing_names": found.sharing_names_count,
        "may_share_names": found.may_share_names_count,
    }
