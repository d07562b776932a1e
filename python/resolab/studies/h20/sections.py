"""The sections of this study, for emulated networks and for the live network."""

from resolab.studies.h20 import figures
from resolab.studies.h20.live import figures as live_figures

SECTIONS = (figures.SECTION, live_figures.SECTION)
