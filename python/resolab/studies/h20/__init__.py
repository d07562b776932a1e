"""The study of Hounsel et al. (WWW 2020): its figures and tables for a dataset, with the printed numbers beside.

For: content specific to this study. Not for: findings of all datasets (`report.findings`).
"""
