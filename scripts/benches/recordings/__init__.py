"""Parts of `scripts/bench recordings`."""
