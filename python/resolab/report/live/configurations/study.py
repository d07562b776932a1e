"""A dataset's loads by network and configuration, read once.

For: the common basis of studies of resolvers, on the live network or an emulated one. Not for: figures.
"""

from collections.abc import Sequence
from functools import cached_property

from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_level
from resolab.report.findings.resolvers import Resolver
from resolab.report.live.configurations.loads import Loads, arrange
from resolab.store import Dataset
from resolab.store.outcomes import PLT, LoadOutcome
from resolab.store.trial_loads import TrialLoadRow, trial_loads, trial_resolvers


class ConfigurationStudy:
    """The configurations of a dataset, read on demand while the dataset is open."""

    def __init__(self, dataset: Dataset, findings: Findings, outcome: LoadOutcome = PLT) -> None:
        self.dataset = dataset
        self.findings = findings
        self.outcome = outcome

    @property
    def level(self) -> float:
        """The level of every interval."""
        return find_level(self.findings.plan)

    @cached_property
    def profiles(self) -> Sequence[str]:
        """The networks or, on the live network, the vantage points, in the plan's order."""
        return self.findings.plan.factors.profile

    @cached_property
    def rows(self) -> list[TrialLoadRow]:
        """Finished trials with their loads."""
        return [row for row in trial_loads(self.dataset) if row.profile in self.profiles]

    @cached_property
    def loads(self) -> Loads:
        """Loads contributing to the outcome by profile, configuration and pair."""
        return arrange(self.rows, self.outcome)

    @cached_property
    def resolvers(self) -> list[Resolver]:
        """Resolver distances and cache states in the dataset, near before far."""
        found = (
            Resolver(row.resolver_extra_rtt_ms, row.resolver_cache, row.resolver, row.resolver_software)
            for row in trial_resolvers(self.dataset)
        )
        return sorted(found, key=lambda one: one.place)

    @property
    def dataset_words(self) -> str:
        """The last sentence of every caption."""
        return f"Dataset {self.findings.manifest.dataset_id}."
