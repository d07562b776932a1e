"""Single page loads as waterfalls, chosen from a dataset, drawn or as text.

For: `resolab waterfall`. Not for: anything about more than one load at a time.
"""
