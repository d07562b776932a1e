"""Decisions about a plan's expectations.

For: `decision`. Not for: verdicts on datasets (`report.verdicts`).
"""
