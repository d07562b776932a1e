"""The optional parts: a run of `plans/quick.toml` needs none of them.

For: single queries, recordings, visits, fidelity, evidence, the fleet and the internet in a box.
Not for: plans, measurements and reports (the other rooms).
"""
