"""resolab: measures what name resolution does to the web a person feels. This package runs experiments."""

__version__ = "0.1.0"
