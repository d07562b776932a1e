"""Datasets of several vantage points: each separately, and across them. Not for: their numbers (`findings`)."""
