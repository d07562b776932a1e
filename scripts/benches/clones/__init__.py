"""Parts of `scripts/bench clones`."""
