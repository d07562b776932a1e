"""Datasets measured on the live network: their findings by resolver and vantage point, in sentences and tables.

For: content specific to live datasets (named resolvers, look-ups, pings, the circumstances of the run). Not for:
findings of all datasets (`findings`), or a paper's figures and printed numbers (`studies`).
"""
