"""The matrix of browsers, ways to a resolver and handshakes, for `scripts/bench browsers`; not part of the package."""
