"""The trials of a study: the declaration, the function that runs one trial, and that function's input and result.

For: the object `TRIALS` of a study's module `trials`. Not for: the steps common to all trials (`runner`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resolab.basics.records import Failure, Record, TrialFlag
from resolab.lab.engine import ResolverTarget
from resolab.lab.lab import Lab, add_no_tables
from resolab.plan import Condition, Plan
from resolab.plan.study import StudyDeclaration


@dataclass(frozen=True, slots=True)
class StudyTrial:
    """The input of a trial: the running lab with the condition in force, and the plan's settings of the study."""

    lab: Lab
    plan: Plan
    condition: Condition
    settings: Any
    seed: int
    """The seed of random choices, the same for all trials of a block."""

    @property
    def resolver(self) -> ResolverTarget:
        """Return the lab's resolver over the condition's transport."""
        return self.lab.build_resolver(self.condition, self.condition.dns_transport)


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The output of a trial; after a failure all its values are null."""

    values: Mapping[str, float]
    """Values by name with unit: each declared time as `NAME_ms`, and any counts and bytes."""
    limit_ms: float
    """The limit of the times: a failed trial counts as at least this long."""
    records: Sequence[Record] = ()
    """Further records of the trial, as of its queries."""
    failure: Failure | None = None
    failure_detail: str | None = None
    flags: Sequence[TrialFlag] = ()


async def prepare_nothing(_lab: Lab, _plan: Plan) -> None:
    """Change nothing before a path's first trial."""


@dataclass(frozen=True, slots=True)
class StudyTrials:
    """The declaration of a study, and the function that runs one of the study's trials."""

    declaration: StudyDeclaration
    run: Callable[[StudyTrial], Awaitable[StudyResult]]
    """Runs the client of one trial in the client's host."""
    prepare: Callable[[Lab, Plan], Awaitable[None]] = prepare_nothing
    """Changes a running lab once, before its first trial."""
    add_tables: Callable[[Plan, Path], str] = add_no_tables
    """Returns further tables of the edge's configuration, as TOML; files go into the given folder."""
