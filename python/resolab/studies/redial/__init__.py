"""The study of redials: the cost of connections that are closed while idle (docs/method/redials.md).

For: queries at random gaps, and the share of queries with a closed connection. Not for: page loads.
"""
