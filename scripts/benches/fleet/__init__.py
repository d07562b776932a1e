"""Parts of `scripts/bench fleet`."""
