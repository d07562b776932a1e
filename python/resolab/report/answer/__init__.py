"""The answer of a report at a glance: one figure, one table and at most three sentences.

For: the first screen of the page, and the terminal at the end of a run. Not for: estimates (`findings`).
"""
