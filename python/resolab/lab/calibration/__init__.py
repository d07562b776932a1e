"""Calibration: compare a requested profile with the emulated path, measured from outside.

For: the probes, the expected values, their tolerances, and the record of the results. Not for: sending (`engine`),
printing (`cli`). The formulas and tolerances are explained in docs/method/calibration.md.
"""

from resolab.lab.calibration.measure import Settings, calibrate, congestion_control, duration_s
from resolab.lab.calibration.profiles import ProfileFile, find_profiles
from resolab.lab.calibration.verdict import pass_all

__all__ = ["ProfileFile", "Settings", "calibrate", "congestion_control", "duration_s", "find_profiles", "pass_all"]
