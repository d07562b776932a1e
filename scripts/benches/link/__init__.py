"""The figures of `scripts/bench link`, one module for each kind.

For: measuring one thing and setting it beside what it must be. Not for: choosing and printing (`__main__`).
"""
