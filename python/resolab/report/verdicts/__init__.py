"""Verdicts on the expectations of a dataset's plan, and their forms for people and build pipelines.

For: `dataset_check` and `forms`. Not for: the decisions (`checks`).
"""
