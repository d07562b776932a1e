"""What a live dataset says beyond what every dataset does.

For: one shape that tables, sentences and the terminal read. Not for: words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.report.findings.findings import Findings
from resolab.report.live.failures import LiveStatus, Outcomes, refused_sites, status_results
from resolab.report.live.lookups import Lookups, lookup_results
from resolab.report.live.pairs import ConfigurationPair, configuration_pairs
from resolab.report.live.pings import Pings, ping_results
from resolab.report.live.study import LiveStudy
from resolab.store import Dataset
from resolab.store.live.queries import GroundRow, ground


@dataclass(frozen=True, slots=True)
class LiveFindings:
    """All of it; every estimate is over sites."""

    ground: Sequence[GroundRow]
    outcomes: Sequence[Outcomes]
    lookups: Sequence[Lookups]
    pings: Sequence[Pings]
    pairs: Sequence[ConfigurationPair]
    """Both ways."""
    refused_sites: Mapping[str, Mapping[LiveStatus, int]]
    """By vantage point, how many sites were left alone, and how many had opted out."""


def live_findings(dataset: Dataset, findings: Findings) -> LiveFindings:
    """Compute it; the dataset must be open."""
    study = LiveStudy(dataset, findings)
    return LiveFindings(
        ground=ground(dataset),
        outcomes=status_results(study),
        lookups=lookup_results(study),
        pings=ping_results(study),
        pairs=configuration_pairs(study),
        refused_sites=refused_sites(study),
    )
