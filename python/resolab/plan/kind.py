"""The rules of each kind of trial: its factors, the fixed levels of all other factors, its outcomes and its tables.

For: reading and writing plans of any kind. Not for: the factors themselves (`condition`) or running a trial.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resolab.basics.records import HandshakeMode, HttpVersion, ResolverPath, TrialKind
from resolab.plan.analysis import OutcomeName
from resolab.plan.condition import DECLARED, Condition, list_needed_factors
from resolab.plan.factors import EVERY_FACTOR
from resolab.plan.study import PlannedStudy

_OF_OUR_CLIENT = frozenset({OutcomeName.RESPONSE_TIME, OutcomeName.FIRST_BYTE, OutcomeName.PAGE_COMPLETE})
"""The outcomes of trials without a browser."""
_NO_PAGE_LOAD: Mapping[str, Any] = {"http_version": HttpVersion.H3, "requested_handshake_mode": HandshakeMode.FULL}
_TABLES_OF_LOADS = ("resolver_path", "queries", "network", "sites", "resolvers", "browser")
_EXAMPLE: Mapping[str, Any] = {"page": "example", **_NO_PAGE_LOAD}
"""The fixed levels of kinds of trial that only need a page's names."""


@dataclass(frozen=True, slots=True)
class TrialKindRules:
    """The parts of a plan with a meaning for one kind of trial."""

    noun: str
    """The measured part of a trial, for sentences."""
    outcomes: tuple[OutcomeName, ...]
    """The outcomes of a trial, the main outcome first; a study declares its own."""
    fixed_levels: Mapping[str, Any]
    """The only level of each factor that every plan of another kind names."""
    resolver_path: ResolverPath | None = None
    """The only path to the resolver; `None` when a plan chooses the path."""
    refused_tables: tuple[str, ...] = ("study",)
    """The tables of a plan without meaning for the kind."""

    @property
    def plural(self) -> str:
        """Return the plural of the noun."""
        return f"{self.noun}es" if self.noun.endswith("ch") else f"{self.noun}s"


KIND_RULES: Mapping[TrialKind, TrialKindRules] = {
    TrialKind.PAGE_LOAD: TrialKindRules(
        noun="load", outcomes=tuple(one for one in OutcomeName if one not in _OF_OUR_CLIENT), fixed_levels={}
    ),
    TrialKind.EXCHANGE: TrialKindRules(
        noun="exchange",
        outcomes=(OutcomeName.RESPONSE_TIME,),
        fixed_levels=_EXAMPLE,
        resolver_path=ResolverPath.NATIVE,
        refused_tables=(*_TABLES_OF_LOADS, "study"),
    ),
    TrialKind.FETCH: TrialKindRules(
        noun="fetch",
        outcomes=(OutcomeName.FIRST_BYTE, OutcomeName.PAGE_COMPLETE),
        fixed_levels=_NO_PAGE_LOAD,
        resolver_path=ResolverPath.NATIVE,
        refused_tables=(*_TABLES_OF_LOADS, "study"),
    ),
    TrialKind.STUDY: TrialKindRules(
        noun="trial",
        outcomes=(),
        fixed_levels=_EXAMPLE,
        resolver_path=ResolverPath.NATIVE,
        refused_tables=_TABLES_OF_LOADS,
    ),
}
"""Every kind with its rules. Fixed levels are written nowhere, except an exchange's page."""


def list_factors_of_kind(kind: TrialKind, study: PlannedStudy | None = None) -> tuple[str, ...]:
    """List the factors with a meaning for a kind, or for a study: the needed factors first."""
    needed = list_needed_factors(kind)
    known = [name for name, one in DECLARED.items() if one.belongs_to(kind)]
    if study is not None:
        known = [name for name in known if name in study.list_factors()]
    return (*needed, *(name for name in known if name not in needed))


def list_outcome_names(kind: TrialKind, study: PlannedStudy | None = None) -> tuple[str, ...]:
    """List the outcomes of a plan's trials, the main outcome first; a study's are `STUDY.TIME`."""
    if study is None:
        return KIND_RULES[kind].outcomes
    return tuple(f"{study.name}.{one.name}" for one in study.declaration.times)


def list_written_levels(condition: Condition) -> dict[str, Any]:
    """List the levels of a trial's record, by factor.

    A factor outside the condition's kind has `None` if every plan of another kind names it, or if it names a browser.
    """
    return {
        factor: getattr(condition, factor) if _is_written(factor, condition.kind) else None for factor in EVERY_FACTOR
    }


def _is_written(factor: str, kind: TrialKind) -> bool:
    declared = DECLARED[factor]
    return declared.belongs_to(kind) or (declared.is_optional and factor != "browser")
