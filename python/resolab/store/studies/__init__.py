"""The questions for figures and tables of the two papers. Not for: the questions of every report (`queries`)."""
