"""Two datasets side by side: the changes between them, and possible reasons.

For: `resolab compare`, as text, JSON and a page. Not for: a single dataset (`findings`).
"""
