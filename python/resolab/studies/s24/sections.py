"""The sections of this study."""

from resolab.studies.s24 import figures, paper_comparison, sums

SECTIONS = (sums.SECTION, paper_comparison.SECTION, figures.SECTION)
