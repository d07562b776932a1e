"""The parts of `scripts/bench edge`, one module for each, and what they share.

For: what a query or a request costs our edge, beside other servers under the same load. Loads, servers and tables are
those of `dns_figures`. Not for: choosing and printing (`bench_edge.py`).
"""
