"""The parts of `scripts/bench edge`, one module for each, and what they share.

For: what a query or a request costs our edge, beside other servers under the same load.
Not for: choosing and printing (`__main__`).
"""
