"""The study of Sengupta et al. (TNSM 2024): its figures and tables over a dataset, their printed numbers beside ours.

For: what only this study asks. Not for: findings that every dataset has (`findings`), or its SQL (`store.studies.s24`).
"""
