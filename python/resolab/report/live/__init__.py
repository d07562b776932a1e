"""Datasets measured on the live network: the figures and tables of Hounsel et al. by resolver and vantage point.

For: content specific to live datasets (named resolvers, judged cache states, pings, the circumstances of the run). Not
for: findings of all datasets (`findings`), or the paper's printed numbers (`h20`).
"""
