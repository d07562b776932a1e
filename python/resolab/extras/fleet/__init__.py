"""A fleet: a plan over many vantage points, with agents connecting to a single server of NATS JetStream.

For: a fleet's server and its members, jobs, agents, results, and a dataset of all results. Not for: the steps of a
trial (`testbed`, `live`), the order of a block (`campaign`).
"""
