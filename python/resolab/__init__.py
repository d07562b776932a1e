"""resolab: measures the effect of name resolution on page loads. This package runs the experiments."""

__version__ = "0.1.0"
