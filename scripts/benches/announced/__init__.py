"""Names of a document announced before it: `scripts/bench announced` (docs/method/announced-names.md)."""
