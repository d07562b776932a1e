"""Carry out a plan: block after block, one load at a time per path, each finished trial on disk, always resumable.

For: `run_campaign` (new) and `resume_campaign` (after any end). Not for: the steps of a trial (`testbed`) or the
conclusions (`report`).
"""

from resolab.campaign.run import CampaignOutcome, resume_campaign, run_campaign

__all__ = ["CampaignOutcome", "resume_campaign", "run_campaign"]
