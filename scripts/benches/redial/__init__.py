"""The cost of closing idle connections: `scripts/bench redial`."""
