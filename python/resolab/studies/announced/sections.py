"""The section of announced names: the wait for names and the document's arrival, beside the closed form.

For: the table of a dataset of this study. Not for: the closed form (`model`), or comparisons of arms, in the common
sections of every dataset.
"""

from dataclasses import dataclass

from resolab.plan import Condition, Plan
from resolab.report.findings.interval_level import find_level
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import number_text
from resolab.report.plots.save import Value
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Section, SectionContent
from resolab.stats import Estimate, Sample, median
from resolab.store.study_values import (
    StudyValuesRow,
    count_failed_trials,
    describe_failed_trials,
    read_study_values,
)
from resolab.studies.announced import model
from resolab.studies.announced.congestion_control import CongestionControl
from resolab.studies.announced.trials import AnnouncedSettings, find_case

LIMIT_MS = 3.0
LIMIT_PROFILES = ("4g",)
"""The limit of the median wait beyond the closed form, which knows no bytes."""
FITTING_COUNT = 8
"""The number of answers fitting into a first window of ten segments (RFC 6928) beside the document. With more answers,
the waits hold a window's round trips, missing in the closed form."""


@dataclass(frozen=True, slots=True)
class WaitFigures:
    """The trials of one condition."""

    condition: Condition
    wait_ms: Estimate
    document_ms: Estimate
    expected_wait_ms: float
    expected_document_ms: float
    is_judged: bool = True
    """False where the closed form lacks a part: another profile, more answers than a first window, BBR's pacing."""
    failed_count: int = 0

    @property
    def beyond_ms(self) -> float:
        """Return the median wait less the closed form."""
        return (self.wait_ms.value or 0.0) - self.expected_wait_ms

    @property
    def is_near(self) -> bool:
        """Return True when the median wait is within the limit of the closed form."""
        return self.wait_ms.value is not None and abs(self.beyond_ms) <= LIMIT_MS


def compute_figures(
    plan: Plan, condition: Condition, trials: list[StudyValuesRow], rtt_ms: float, failed_count: int = 0
) -> WaitFigures:
    """Compute the figures of a condition's trials."""
    wait_ms, document_ms = (
        median(Sample.exact([one.values[name] for one in trials]), level=find_level(plan))
        for name in ("wait_ms", "document_ms")
    )
    case = find_case(condition)
    expected = model.wait_ms(case, rtt_ms), model.document_ms(case, rtt_ms)
    return WaitFigures(condition, wait_ms, document_ms, *expected, _is_judged(plan, condition), failed_count)


def _is_judged(plan: Plan, condition: Condition) -> bool:
    assert plan.study is not None
    settings: AnnouncedSettings = plan.study.settings
    paces = settings.congestion_control is CongestionControl.BBR
    return condition.profile in LIMIT_PROFILES and settings.names_count <= FITTING_COUNT and not paces


def build_table(found: list[WaitFigures], names_count: int, failures: str = "") -> NamedTable:
    """List the conditions with their waits beside the closed form."""
    columns = (
        "profile", "announcement", "case", "n", "failed", "document there ms", "its closed form ms",
        "names waited for ms", "closed form of the wait ms", "beyond ms", f"within {LIMIT_MS:g} ms",
    )  # fmt: skip
    table = Table(columns, [_words(one) for one in found], frozenset((0, 1, 2, 10)))
    judged = [one for one in found if one.is_judged]
    windows = (
        ""
        if names_count <= FITTING_COUNT
        else f" {names_count} answers exceed a first window of ten segments: the waits hold its round trips."
    )
    note = (
        "Medians with intervals. Case: the document's connection, the server's time and the delay of each name, in ms. "
        "Closed form: document there = (2 + c) x RTT + server time, with c = 2 for a connection of its own; wait = "
        "max(0, names known - document there). Beyond: the median wait less the closed form; it holds the bytes of "
        f"queries and answers. {sum(one.is_near for one in judged)} of {len(judged)} waits are within "
        f"{LIMIT_MS:g} ms (judged on {' and '.join(LIMIT_PROFILES)}, with reno or CUBIC).{windows}{failures}"
    )
    return NamedTable("announced", "Waits beside the closed form", table, [_numbers(one) for one in found], note)


def _words(one: WaitFigures) -> tuple[str, ...]:
    return (
        one.condition.profile,
        str(one.condition.study_arm),
        str(one.condition.study_case),
        str(one.wait_ms.n),
        str(one.failed_count),
        both_text(one.document_ms),
        number_text(one.expected_document_ms),
        both_text(one.wait_ms),
        number_text(one.expected_wait_ms),
        number_text(one.beyond_ms, 2, signed=True),
        ("yes" if one.is_near else "no") if one.is_judged else "",
    )


def _numbers(one: WaitFigures) -> dict[str, Value]:
    return {
        "condition": one.condition.id,
        "trials_count": one.wait_ms.n,
        "failed_count": one.failed_count,
        "wait_ms": one.wait_ms.value,
        "wait_ci_low_ms": one.wait_ms.ci_low,
        "wait_ci_high_ms": one.wait_ms.ci_high,
        "expected_wait_ms": one.expected_wait_ms,
        "document_ms": one.document_ms.value,
        "expected_document_ms": one.expected_document_ms,
    }


def _build(reading: Reading) -> SectionContent:
    plan, rtt_ms, values = reading.plan, reading.findings.oracle.rtt_ms, read_study_values(reading.dataset)
    assert plan.study is not None
    failed = count_failed_trials(reading.dataset)
    found = [
        compute_figures(plan, condition, trials, rtt_ms[condition.profile], failed.get(condition.id, 0))
        for condition in plan.conditions()
        if (trials := values.get(condition.id))
    ]
    return SectionContent(
        [build_table(found, plan.study.settings.names_count, describe_failed_trials(failed, values))] if found else []
    )


SECTION = Section(
    id="announced",
    title="Waits for names beside the closed form",
    link="Waits for names",
    follows="comparisons",
    applies=lambda reading: reading.plan.study is not None and reading.plan.study.name == "announced",
    build=_build,
)
SECTIONS = (SECTION,)
