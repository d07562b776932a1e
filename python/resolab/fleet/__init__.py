"""Many vantage points: one plan over a fleet of machines, whose agents dial out to one server of NATS JetStream.

For: a fleet's server and who may use it, jobs, agents, results, and one dataset of them. Not for: what a trial does
(testbed, live), the order of a block (campaign).
"""
