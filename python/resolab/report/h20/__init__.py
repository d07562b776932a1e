"""The study of Hounsel et al. (WWW 2020): its figures and tables over a dataset, their printed numbers beside ours.

For: what only this study asks. Not for: findings that every dataset has (`findings`), or its SQL (`store.studies.h20`).
"""
