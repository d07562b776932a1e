"""Two datasets side by side: what changed between them, and what may explain it.

For: `resolab compare`, as text, JSON and a page. Not for: one dataset alone (`findings`).
"""
