"""Parts of `scripts/bench pages`."""
