"""Partial responses over an emulated path: `scripts/bench partial`."""
