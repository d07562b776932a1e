"""The section of partial responses: the first and the last answers beside the closed form, and answers behind it.

For: the tables of a dataset of this study. Not for: the closed form (`model`), or comparisons of arms, in the common
sections of every dataset.
"""

from dataclasses import dataclass

from resolab.basics.protocols import has_handshake
from resolab.plan import Condition, Plan
from resolab.report.findings.interval_level import find_level
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import estimate_text, interval_text, transport_label
from resolab.report.plots.save import Value
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Section, SectionContent
from resolab.stats import Estimate, Sample, median, proportion
from resolab.store.study_values import (
    StudyValuesRow,
    count_failed_trials,
    describe_failed_trials,
    read_study_values,
)
from resolab.studies.partial.trials import ONE_MESSAGE, predict_answers_ms

LIMIT_MS = 4.0
LIMIT_PROFILES = ("4g",)
"""The limit of the first and the last answer of one message beyond the closed form, which knows no bytes."""


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """The trials of one condition."""

    condition: Condition
    first_beyond_ms: Estimate
    """The first answer less its closed form."""
    last_beyond_ms: Estimate
    behind_count: float
    """The answers coming, after the first, more than half a round trip later than their delays say; median."""
    late_trials: Estimate
    """The share of trials with an answer more than half a round trip beyond the closed form."""
    failed_count: int = 0

    @property
    def is_judged(self) -> bool:
        """Return True for one message on a profile with a known limit.

        Separate messages may wait for windows, absent from the closed form. Beyond holds bytes, which take longer on a
        slower link.
        """
        return self.condition.study_arm == ONE_MESSAGE and self.condition.profile in LIMIT_PROFILES

    @property
    def is_near(self) -> bool:
        """Return True when both answers are within the limit of the closed form."""
        values = (self.first_beyond_ms.value, self.last_beyond_ms.value)
        return all(one is not None and abs(one) <= LIMIT_MS for one in values)


def compute_figures(
    plan: Plan, condition: Condition, trials: list[StudyValuesRow], rtt_ms: float, failed_count: int = 0
) -> AnswerFigures:
    """Compute the figures of a condition's trials."""
    assert plan.study is not None
    level = find_level(plan)
    expected_ms = predict_answers_ms(condition, rtt_ms, plan.study.settings)
    first_ms, last_ms = ([one.values[name] for one in trials] for name in ("first_ms", "last_ms"))
    behind = median(Sample.exact([one.values["behind_count"] for one in trials]))
    late_count = sum(one.values["late_count"] > 0 for one in trials)
    return AnswerFigures(
        condition,
        median(Sample.exact([one - expected_ms[0] for one in first_ms]), level=level),
        median(Sample.exact([one - expected_ms[-1] for one in last_ms]), level=level),
        behind.value or 0.0,
        proportion(late_count, len(trials), level=level),
        failed_count,
    )


def build_table(found: list[AnswerFigures], failures: str = "") -> NamedTable:
    """List the conditions with their answers beyond the closed form."""
    columns = (
        "profile", "transport", "handshake", "case", "arm", "n", "failed", "first beyond closed form ms",
        "last beyond closed form ms", f"within {LIMIT_MS:g} ms", "behind", "trials with a late answer %",
    )  # fmt: skip
    table = Table(columns, [_words(one) for one in found], frozenset((0, 1, 2, 3, 4, 9)))
    judged = [one for one in found if one.is_judged]
    note = (
        "Medians with intervals; closed form of an answer: k x RTT + the name's delay. Beyond holds the bytes and the "
        "client's own work. Behind: answers coming, after the first, more than half a round trip later than their "
        "delays say (median). Late: more than half a round trip beyond the closed form, after a lost packet or a full "
        f"window. In one message over {' and '.join(LIMIT_PROFILES)}, {sum(one.is_near for one in judged)} of "
        f"{len(judged)} conditions have both answers within {LIMIT_MS:g} ms; separate messages are not judged, as "
        f"their answers may exceed a first window.{failures}"
    )
    return NamedTable("partial", "Answers beside the closed form", table, [_numbers(one) for one in found], note)


def _words(one: AnswerFigures) -> tuple[str, ...]:
    condition, share = one.condition, one.late_trials
    return (
        condition.profile,
        transport_label(condition.dns_transport),
        str(condition.requested_dns_handshake_mode) if has_handshake(condition.dns_transport) else "",
        str(condition.study_case),
        str(condition.study_arm),
        str(one.first_beyond_ms.n),
        str(one.failed_count),
        both_text(one.first_beyond_ms, 2, signed=True),
        both_text(one.last_beyond_ms, 2, signed=True),
        ("yes" if one.is_near else "no") if one.is_judged else "",
        f"{one.behind_count:g}",
        f"{estimate_text(share, 0, scale=100)} {interval_text(share, 0, scale=100)}",
    )


def _numbers(one: AnswerFigures) -> dict[str, Value]:
    return {
        "condition": one.condition.id,
        "trials_count": one.first_beyond_ms.n,
        "failed_count": one.failed_count,
        "first_beyond_ms": one.first_beyond_ms.value,
        "last_beyond_ms": one.last_beyond_ms.value,
        "behind_count": one.behind_count,
        "late_ratio": one.late_trials.value,
        "late_ci_low_ratio": one.late_trials.ci_low,
        "late_ci_high_ratio": one.late_trials.ci_high,
    }


def _build(reading: Reading) -> SectionContent:
    plan, rtt_ms, values = reading.plan, reading.findings.oracle.rtt_ms, read_study_values(reading.dataset)
    failed = count_failed_trials(reading.dataset)
    found = [
        compute_figures(
            plan,
            condition,
            trials,
            rtt_ms[condition.profile] + condition.resolver_extra_rtt_ms,
            failed.get(condition.id, 0),
        )
        for condition in plan.conditions()
        if (trials := values.get(condition.id))
    ]
    return SectionContent([build_table(found, describe_failed_trials(failed, values))] if found else [])


SECTION = Section(
    id="partial",
    title="Answers beside the closed form",
    link="Answers of many names",
    follows="comparisons",
    applies=lambda reading: reading.plan.study is not None and reading.plan.study.name == "partial",
    build=_build,
)
SECTIONS = (SECTION,)
