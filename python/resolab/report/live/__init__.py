"""Datasets measured on the live network: the figures and tables of Hounsel et al. by resolver and vantage point.

For: what only such a dataset has (resolvers by name, cache states judged, pings, the ground it stood on). Not for:
findings that every dataset has (`findings`), or the paper's printed numbers (`h20`).
"""
