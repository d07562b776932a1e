"""Carry out a plan: block after block, one load at a time per path, each finished trial on disk, always resumable.

For: `run_campaign` (new), `resume_campaign` (after any end) and `extend_campaign` (more blocks). Not for: the steps of
a trial (`testbed`) or the conclusions (`report`).
"""

from resolab.campaign.run import CampaignOutcome, extend_campaign, resume_campaign, run_campaign

__all__ = ["CampaignOutcome", "extend_campaign", "resume_campaign", "run_campaign"]
