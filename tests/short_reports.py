"""`resolab` whose reports lack the papers' figures: they take longer than a run of a few trials.

For: runs that are stopped, resumed and looked at otherwise. Not for: tests of what a run leaves in the end.
"""

import sys

from resolab import studies
from resolab.cli.main import main

studies.find_sections = list
sys.exit(main())
