"""Savings of real pages by announced names (docs/method/announced-names.md): `scripts/bench announced`."""
