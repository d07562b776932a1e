"""Blocks one by one, for whoever is given them so. Not for: whole campaigns (`campaign.run`)."""
