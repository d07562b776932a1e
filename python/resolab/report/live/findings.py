"""The additional findings of a live dataset.

For: a common type for tables, sentences and the terminal. Not for: words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.report.findings.findings import Findings
from resolab.report.live.failures import ConfigurationStatuses, LiveStatus, count_refused_sites, status_results
from resolab.report.live.lookups import LookupSummary, lookup_results
from resolab.report.live.pairs import ConfigurationPair, configuration_pairs
from resolab.report.live.pings import PingSummary, ping_results
from resolab.report.live.study import LiveStudy
from resolab.store import Dataset
from resolab.store.live.queries import TrialSettingsRow, read_trial_settings


@dataclass(frozen=True, slots=True)
class LiveFindings:
    """The additional live findings; every estimate is over sites."""

    ground: Sequence[TrialSettingsRow]
    outcomes: Sequence[ConfigurationStatuses]
    lookups: Sequence[LookupSummary]
    pings: Sequence[PingSummary]
    pairs: Sequence[ConfigurationPair]
    """Every pair in both orders."""
    refused_sites: Mapping[str, Mapping[LiveStatus, int]]
    """The number of sites left alone, and of sites opted out, by vantage point."""


def live_findings(dataset: Dataset, findings: Findings) -> LiveFindings:
    """Compute the live findings; the dataset must be open."""
    study = LiveStudy(dataset, findings)
    return LiveFindings(
        ground=read_trial_settings(dataset),
        outcomes=status_results(study),
        lookups=lookup_results(study),
        pings=ping_results(study),
        pairs=configuration_pairs(study),
        refused_sites=count_refused_sites(study),
    )
