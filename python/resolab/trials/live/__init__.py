"""Page loads and look-ups over the real network: the live counterpart of a testbed.

For: `LiveBed.run_trial(condition)` of a live plan. Not for: order, repetition and files (`campaign`).
"""

from resolab.trials.live.bed import LiveBed

__all__ = ["LiveBed"]
