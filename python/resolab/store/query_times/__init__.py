"""Response times of queries: counted, as distributions, and by the phases of cold exchanges.

For: datasets of any size. Not for: single queries (`dataset`).
"""
