"""Parts of `scripts/bench verdicts`."""
