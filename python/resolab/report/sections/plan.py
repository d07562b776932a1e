"""The section of the plan and the command, for a repetition.

For: the exact text of both. Not for: the machine (`environment`).
"""

import shlex

from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Listing, Section, SectionContent


def _build(reading: Reading) -> SectionContent:
    manifest = reading.findings.manifest
    return SectionContent([Listing(shlex.join(manifest.command_line)), Listing(manifest.plan_text)])


SECTION = Section(id="plan", title="Plan and command", link="Plan", build=_build)
