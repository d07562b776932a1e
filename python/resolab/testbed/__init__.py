"""The lab of one campaign: path, edge, stub and browsers, put together, and one trial on it.

For: `Testbed.run_trial(condition)`. Not for: order, repetition and files; those are the campaign's.
"""

from resolab.testbed.kept import Kept
from resolab.testbed.testbed import Testbed
from resolab.testbed.trial_result import TrialResult

__all__ = ["Kept", "Testbed", "TrialResult"]
