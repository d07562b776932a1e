"""Verdicts on the expectations of a dataset's plan, and their forms for people and build pipelines.

For: `dataset_check`, `across_datasets`, `forms` and `history`. Not for: the decisions (`checks`).
"""
