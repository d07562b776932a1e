"""The sections of the page in their order, and those of a dataset with their content.

For: the one place that lists a section. Not for: the content of any.
"""

import importlib
from collections.abc import Iterator, Sequence

from resolab.report.sections import (
    aa,
    answer_sentences,
    calibration,
    comparisons,
    dns,
    effects,
    environment,
    explanations,
    failures,
    heat_map,
    instrument,
    loads,
    outcomes,
    plan,
    software,
)
from resolab.report.sections.paths import section as paths
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Section, SectionContent

SECTIONS: Sequence[Section] = (
    failures.SECTION,
    answer_sentences.SECTION,
    comparisons.SECTION,
    heat_map.SECTION,
    effects.SECTION,
    dns.SECTION,
    loads.SECTION,
    outcomes.SECTION,
    paths.SECTION,
    software.SECTION,
    instrument.SECTION,
    calibration.SECTION,
    aa.SECTION,
    environment.SECTION,
    explanations.SECTION,
    plan.SECTION,
)
_STUDIES = "resolab.studies"
"""The package with the studies' sections; the report knows no study, and finds the package by its name."""


def list_sections() -> list[Section]:
    """List the sections in the page's order; each of a study stands after the section it follows."""
    of_studies: list[Section] = importlib.import_module(_STUDIES).find_sections()
    found = [one for section in SECTIONS for one in _with_followers(section, of_studies)]
    lost = [f"{one.id} after {one.follows!r}" for one in of_studies if one not in found]
    if lost:
        message = f"sections of studies follow no section of the page: {', '.join(lost)}"
        raise LookupError(message)
    return found


def _with_followers(section: Section, further: Sequence[Section]) -> Iterator[Section]:
    yield section
    for one in further:
        if one.follows == section.id:
            yield from _with_followers(one, further)


BuiltSection = tuple[Section, SectionContent]


def build_sections(reading: Reading) -> list[BuiltSection]:
    """Build the sections of a dataset."""
    return [(one, one.build(reading)) for one in list_sections() if one.applies(reading)]
