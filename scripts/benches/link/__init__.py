"""The figures of `scripts/bench link`, one module for each kind.

For: measuring a quantity and comparing the value with its limit. Not for: choosing and printing (`__main__`).
"""
