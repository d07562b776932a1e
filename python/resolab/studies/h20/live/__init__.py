"""Datasets of the live network: the figures and tables of Hounsel et al. by resolver and vantage point.

For: named resolvers, vantage points and cache states, beside the paper's numbers. Not for: the findings of live
datasets (`report.live`).
"""
