"""Run single blocks, for callers receiving blocks one by one. Not for: whole campaigns (`campaign.run`)."""
