"""Facts of loads on the client side against the edge's facts.

Not for: the rules (`resolab.trials.live.client_side`).
"""
