"""Single page loads as waterfalls, chosen from a dataset, drawn or as text.

For: `resolab waterfall`. Not for: several loads at a time.
"""
