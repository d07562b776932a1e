"""Calibration: a profile as it was asked for against the path as it is, seen from outside.

For: which probes are sent, what each quantity should be, by how much it may differ, and the record of it.
Not for: sending (`engine`), printing (`cli`). The formulas and tolerances are explained in docs/method/calibration.md.
"""

from resolab.calibration.measure import Settings, calibrate, congestion_control, duration_s
from resolab.calibration.profiles import ProfileFile, find_profiles
from resolab.calibration.verdict import all_within

__all__ = ["ProfileFile", "Settings", "all_within", "calibrate", "congestion_control", "duration_s", "find_profiles"]
