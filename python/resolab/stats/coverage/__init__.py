"""The coverage of the intervals of `stats`, by simulation. Not for: estimates."""
