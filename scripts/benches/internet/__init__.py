"""The figures of `scripts/bench internet`: the exactness of the exchange's delays, and its capacity.

For: an internet of hosts with only echoes and floods. Not for: measurements over the internet.
"""
