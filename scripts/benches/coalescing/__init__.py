"""`scripts/bench coalescing`: a name and its page in the fewest round trips (docs/method/coalescing.md)."""
