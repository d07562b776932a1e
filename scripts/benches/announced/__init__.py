"""Names of a document, announced early: `scripts/bench announced` (docs/method/announced-names.md)."""
