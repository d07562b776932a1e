"""Parts of `scripts/bench analysis`."""
