"""The study of Sengupta et al. (TNSM 2024): its figures and tables for a dataset, with the printed numbers beside.

For: content specific to this study. Not for: findings of all datasets (`report.findings`).
"""
