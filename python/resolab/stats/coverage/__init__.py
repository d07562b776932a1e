"""How often what `stats` prints holds the truth, by simulation. Not for: estimates."""
