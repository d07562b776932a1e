"""`resolab` whose reports lack the papers' figures: they take longer than a run of a few trials.

For: runs that are stopped, resumed and looked at otherwise. Not for: tests of what a run leaves in the end.
"""

import sys

from resolab.cli.main import main
from resolab.report.sections import order

order._STUDIES = []
sys.exit(main())
