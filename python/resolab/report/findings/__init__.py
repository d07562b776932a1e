"""The findings of a dataset: every estimate, comparison and count of the report, before printing or drawing.

For: datasets in, `Findings` out. Not for: words, tables and figures; other modules of the report make these.
"""
