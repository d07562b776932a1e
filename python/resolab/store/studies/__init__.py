"""What the figures and tables of the two papers ask of a dataset. Not for: what every report asks (`queries`)."""
