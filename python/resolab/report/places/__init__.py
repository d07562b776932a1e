"""Datasets of several vantage points: each by itself, and across them. Not for: their numbers (`findings`)."""
