"""Studies with trials of their own: their declarations, found by the folder's name, and a plan's choice of a study.

For: all that a plan, the store and the report must know of a study. Not for: running a trial (`trials.study`), or the
studies themselves (the package `studies`).

A study is a folder of the package `studies`. Its module `trials` has the object `TRIALS`, with the declaration as its
field `declaration`. The package is found by its name, since no room below the studies imports a study.
"""

import importlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from resolab.plan.condition import STUDY_FACTORS, Condition
from resolab.plan.section import PlanSection
from resolab.plan.settings import read_table

STUDIES = "resolab.studies"
MODULE = "trials"


@dataclass(frozen=True, slots=True)
class NoSettings:
    """The settings of a study without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyTime:
    """A time measured by every trial of a study, and so an outcome; its record has the unit as a suffix, `NAME_ms`."""

    name: str
    label: str
    """Short, for the heads of columns and axes."""
    phrase: str
    """The time's name, for use within a sentence."""
    meaning: str
    """The definition, for use within a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDeclaration:
    """The outcomes, arms, factors and settings of a study, and its closed form."""

    times: tuple[StudyTime, ...]
    """The outcomes, the main outcome first."""
    arms: tuple[str, ...]
    """The levels of the factor `study_arm`."""
    cases: tuple[str, ...] = ()
    """The levels of the factor `study_case`: circumstances within which arms are compared."""
    factors: Collection[str] = ()
    """The further factors with a meaning, beside `profile`, `dns_transport`, `study_arm` and `study_case`."""
    settings: type[Any] = NoSettings
    """A dataclass of settings (`plan.settings`): further keys of the plan's table `[study]`."""
    closed_form: str
    """The formula of the main outcome, for use within a sentence."""
    predict_ms: Callable[[Condition, float, Any], float]
    """The main outcome by the closed form, in ms, of a condition, its round trip in ms, and the settings."""
    trial_s: Callable[[Condition, float, Any], float]
    """The expected duration of a trial's client, in s, by the same arguments."""
    impossible: Callable[[Condition], str | None] = lambda _condition: None
    """The reason against a condition, or `None`."""


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A plan's choice of a study, with the study's settings."""

    name: str
    settings: Any

    def list_factors(self) -> tuple[str, ...]:
        """List the factors with a meaning in the study."""
        return ("profile", "dns_transport", *find_study_levels(self), *self.declaration.factors)

    def predict_ms(self, condition: Condition, rtt_ms: float) -> float:
        """Return the main outcome by the closed form, in ms."""
        return self.declaration.predict_ms(condition, rtt_ms, self.settings)

    def estimate_trial_s(self, condition: Condition, rtt_ms: float) -> float:
        """Return the expected duration of a trial's client, in s."""
        return self.declaration.trial_s(condition, rtt_ms, self.settings)

    @property
    def declaration(self) -> StudyDeclaration:
        """Return the study's declaration."""
        return find_study(self.name)


def list_studies() -> list[str]:
    """List the studies with trials of their own."""
    found: list[str] = importlib.import_module(STUDIES).list_folders(MODULE)
    return found


def find_study(name: str) -> StudyDeclaration:
    """Return the declaration of a study; its folder must exist."""
    found: StudyDeclaration = find_trials(name).declaration
    return found


def find_trials(name: str) -> Any:
    """Return the object `TRIALS` of a study's folder."""
    return importlib.import_module(f"{STUDIES}.{name}.{MODULE}").TRIALS


def read_study(section: PlanSection) -> PlannedStudy:
    """Read the study of a plan, and its settings."""
    name = section.take_word("name", list_studies())
    return PlannedStudy(name, read_table(section, find_study(name).settings))


def find_study_levels(study: PlannedStudy | None) -> Mapping[str, tuple[str, ...]]:
    """Return the words of the factors whose levels a study declares."""
    if study is None:
        return {}
    found = study.declaration
    return {"study_arm": found.arms, **({"study_case": found.cases} if found.cases else {})}


def check_study_factors(section: PlanSection, study: PlannedStudy) -> None:
    """Refuse factors without a meaning in a study, and a plan without arms."""
    known = study.list_factors()
    for factor in STUDY_FACTORS:
        if factor in section and factor not in known:
            section.fail(factor, f"is no factor of the study {study.name!r}; its factors: {', '.join(known)}")
    if "study_arm" not in section:
        section.fail("study_arm", f"is missing: name arms of the study; allowed: {', '.join(study.declaration.arms)}")
