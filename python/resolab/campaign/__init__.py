"""Carrying a plan out: block after block, one load at a time, every finished trial on disk, resumable at any moment.

For: `run_campaign` (new) and `resume_campaign` (after any end). Not for: what a trial does (testbed) or means (report).
"""

from resolab.campaign.run import Outcome, resume_campaign, run_campaign

__all__ = ["Outcome", "resume_campaign", "run_campaign"]
