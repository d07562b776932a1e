"""The section of redials: the share of queries with a closed connection, and their mean time, beside the closed form.

For: the tables of a dataset of this study. Not for: the closed form (`model`), or comparisons of arms, in the common
sections of every dataset.
"""

from dataclasses import dataclass

from resolab.basics.protocols import DNS_TRANSPORTS, WITHOUT_CONNECTION, cold_exchange_round_trips, has_handshake
from resolab.plan import Condition, Plan
from resolab.report.findings.interval_level import find_level
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import estimate_text, interval_text, number_text, transport_label
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
from resolab.studies.redial.model import mean_response_ms, queries_to_amortise
from resolab.studies.redial.trials import count_cold_round_trips, expect_redialed_share

LIMIT_MS = 3.0
LIMIT_PROFILES = ("4g", "fiber")
"""The limit of a mean beyond the closed form, which knows no bytes."""
MARGINS = (0.5, 0.1, 0.05)
"""The margins of an amortised set-up, as shares of a round trip."""


@dataclass(frozen=True, slots=True)
class RedialFigures:
    """The trials of one condition."""

    condition: Condition
    redialed: Estimate
    """The share of redials among all queries."""
    expected_share: float
    beyond_ms: Estimate
    """The mean of a trial's queries less the closed form with the trial's own number of redials."""
    failed_count: int = 0

    @property
    def is_judged(self) -> bool:
        """Return True for a profile with a known limit: beyond holds bytes, which take longer on a slower link."""
        return self.condition.profile in LIMIT_PROFILES

    @property
    def holds_share(self) -> bool:
        """Return True when the interval of the share holds the expected share."""
        low, high = self.redialed.ci_low, self.redialed.ci_high
        return low is not None and high is not None and low <= self.expected_share <= high

    @property
    def is_near(self) -> bool:
        """Return True when the mean is within the limit of the closed form."""
        return self.beyond_ms.value is not None and abs(self.beyond_ms.value) <= LIMIT_MS


def compute_figures(
    plan: Plan, condition: Condition, trials: list[StudyValuesRow], rtt_ms: float, failed_count: int = 0
) -> RedialFigures:
    """Compute the figures of a condition's trials."""
    assert plan.study is not None
    round_trips = count_cold_round_trips(condition)
    counts = [(round(one.values["redialed_count"]), round(one.values["queries_count"])) for one in trials]
    beyond_ms = [
        one.values["mean_ms"] - mean_response_ms(rtt_ms, round_trips, redialed / total)
        for one, (redialed, total) in zip(trials, counts, strict=True)
    ]
    redialed_count, queries_count = (sum(one) for one in zip(*counts, strict=True))
    return RedialFigures(
        condition,
        proportion(redialed_count, queries_count, level=find_level(plan)),
        expect_redialed_share(condition, plan.study.settings),
        median(Sample.exact(beyond_ms), level=find_level(plan)),
        failed_count,
    )


def build_table(found: list[RedialFigures], failures: str = "") -> NamedTable:
    """List the conditions with their shares and times beyond the closed form."""
    columns = (
        "profile", "transport", "handshake", "arm", "n", "failed", "redialed %", "by closed form %", "in interval",
        "mean beyond closed form ms", f"within {LIMIT_MS:g} ms",
    )  # fmt: skip
    table = Table(columns, [_words(one) for one in found], frozenset((0, 1, 2, 3, 8, 10)))
    judged = [one for one in found if one.is_judged]
    note = (
        "Redialed: share of the queries after the first with a closed connection, with Wilson's interval; closed form "
        "exp(-timeout / gap). Mean beyond closed form: median over trials of the mean response time less "
        "RTT x (1 + (k - 1) x redialed), with the trial's own share; it holds bytes and the client's own work. "
        f"The interval of the share holds the closed form in {sum(one.holds_share for one in found)} of {len(found)} "
        f"conditions; {sum(one.is_near for one in judged)} of {len(judged)} means are within {LIMIT_MS:g} ms (judged "
        f"on {' and '.join(LIMIT_PROFILES)}). Conditions of a block have the same gaps, so their shares are not "
        f"independent.{failures}"
    )
    return NamedTable("redials", "Redials beside the closed form", table, [_numbers(one) for one in found], note)


def _words(one: RedialFigures) -> tuple[str, ...]:
    condition, share = one.condition, one.redialed
    return (
        condition.profile,
        transport_label(condition.dns_transport),
        str(condition.requested_dns_handshake_mode) if has_handshake(condition.dns_transport) else "",
        str(condition.study_arm),
        str(one.beyond_ms.n),
        str(one.failed_count),
        f"{estimate_text(share, scale=100)} {interval_text(share, scale=100)}",
        number_text(100 * one.expected_share),
        "yes" if one.holds_share else "no",
        both_text(one.beyond_ms, 2, signed=True),
        ("yes" if one.is_near else "no") if one.is_judged else "",
    )


def _numbers(one: RedialFigures) -> dict[str, Value]:
    share, beyond_ms = one.redialed, one.beyond_ms
    return {
        "condition": one.condition.id,
        "trials_count": beyond_ms.n,
        "failed_count": one.failed_count,
        "redialed_ratio": share.value,
        "ci_low_ratio": share.ci_low,
        "ci_high_ratio": share.ci_high,
        "expected_ratio": one.expected_share,
        "beyond_ms": beyond_ms.value,
        "beyond_ci_low_ms": beyond_ms.ci_low,
        "beyond_ci_high_ms": beyond_ms.ci_high,
    }


def build_amortisation_table() -> Table:
    """List the queries a connection must carry until its set-up is paid for, by round trips of a first query."""
    by_trips: dict[int, list[str]] = {}
    for transport in DNS_TRANSPORTS:
        if transport in WITHOUT_CONNECTION:
            continue
        # A resumed handshake takes the round trips of a full handshake.
        for mode in ("full", "zero_rtt") if has_handshake(transport) else ("full",):
            trips = cold_exchange_round_trips(transport, mode)
            by_trips.setdefault(trips, []).append(f"{transport_label(transport)} {mode}")
    rows = [
        (str(trips), ", ".join(names), *(str(queries_to_amortise(trips, margin)) for margin in MARGINS))
        for trips, names in sorted(by_trips.items())
    ]
    columns = ("k", "first queries", *(f"within {margin:.0%} of a round trip" for margin in MARGINS))
    return Table(columns, rows, frozenset((1,)))


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
    return SectionContent(
        [build_table(found, describe_failed_trials(failed, values)), build_amortisation_table()] if found else []
    )


SECTION = Section(
    id="redials",
    title="Redials beside the closed form",
    link="Redials",
    follows="comparisons",
    applies=lambda reading: reading.plan.study is not None and reading.plan.study.name == "redial",
    build=_build,
)
SECTIONS = (SECTION,)
