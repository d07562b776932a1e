"""The parts of `scripts/bench edge`, one module for each, and their shared code.

For: the cost of a query or a request at our edge, beside other servers under the same load. Not for: choosing and
printing (`__main__`).
"""
