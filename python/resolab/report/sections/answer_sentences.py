"""The section of the answer in sentences, with all their limits.

For: the answer of every dataset in words, after the figure at the top. Not for: the sentences
(`parts.plain_answers`, `live.answers`).
"""

from resolab.report.findings.estimands import WORDS
from resolab.report.findings.interval_level import find_level, find_significance, level_text
from resolab.report.live.answers import live_answers
from resolab.report.live.circumstances import live_lines
from resolab.report.parts.failure_sentences import trouble_sentence
from resolab.report.parts.plain_answers import plain_answers, too_few_sentence
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Paragraph, Section, SectionContent, Tone


def _build(reading: Reading) -> SectionContent:
    findings, live = reading.findings, reading.live
    too_few = too_few_sentence(findings.primary, find_significance(reading.plan))
    lines = [
        *live_lines(findings, live),
        *live_answers(findings, live),
        *plain_answers(findings),
        *([f"Behind it: {trouble_sentence(findings)}"] if findings.trials_count else []),
        *([too_few] if too_few else []),
    ]
    plain = [Paragraph(line, Tone.PLAIN) for line in lines]
    return SectionContent([*plain, *list_notes((_describe_verdicts(reading), _name_dataset(reading)))])


def _describe_verdicts(reading: Reading) -> str:
    equivalent = (
        "Equivalent: both one-sided tests reject a difference as large as the margin that the plan declared before any "
        f"load (Schuirmann 1987), each for itself; an interval of {level_text(find_level(reading.plan))} is wider than "
        f"these tests at {level_text(find_significance(reading.plan))} and may leave the band. "
        if reading.findings.equivalences
        else ""
    )
    return (
        f"Slower, faster: the interval of the {WORDS[reading.plan.analysis.estimand]} lies on one side of 0; every "
        f"interval stands for itself. {equivalent}Not decided: neither; it does not say that nothing changed."
    )


def _name_dataset(reading: Reading) -> str:
    manifest = reading.findings.manifest
    return (
        f"Dataset {manifest.dataset_id}, {manifest.status}: {reading.findings.trials_count} of "
        f"{manifest.trials_planned_count} trials, {manifest.blocks} blocks asked for."
    )


SECTION = Section(
    id="sentences",
    title="The answer in sentences, with all that qualifies it",
    link="In sentences",
    build=_build,
)
