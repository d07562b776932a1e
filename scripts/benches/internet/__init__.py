"""The figures of `scripts/bench internet`: how exact the exchange's delays are, and how much it carries.

For: an internet of hosts with nothing but echoes and floods in them. Not for: what is measured over it.
"""
