"""`scripts/bench coalescing`: a name and its page in as few round trips as can be (docs/method/coalescing.md)."""
