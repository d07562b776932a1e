"""Labels that records carry and that more than one room knows. Not for: what is recorded under them."""

MEASURED_LABEL = "measured"
"""Of the path's summary over the measured load; its window begins when the warm-up's connections are closed."""
