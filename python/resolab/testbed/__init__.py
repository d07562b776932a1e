"""The lab of a campaign: path, edge, stub and browsers, put together, with a method to run a trial.

For: `Testbed.run_trial(condition)`. Not for: order, repetition and files (`campaign`).
"""

from resolab.testbed.artifacts import KeptFolders
from resolab.testbed.testbed import Testbed
from resolab.testbed.trial_result import TrialResult

__all__ = ["KeptFolders", "Testbed", "TrialResult"]
