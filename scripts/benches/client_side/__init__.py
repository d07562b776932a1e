"""Facts of loads on the client side, compared with the edge's facts. Not for: the rules (`resolab.live.judged`)."""
