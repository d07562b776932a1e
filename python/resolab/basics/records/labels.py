"""The labels of records used by more than one package. Not for: the records under these labels."""

MEASURED_LABEL = "measured"
"""Label of the path's summary over the measured load; the window begins after the warm-up's connections are closed."""
