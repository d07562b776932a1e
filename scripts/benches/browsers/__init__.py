"""The matrix of browsers, resolver paths and handshakes, for `scripts/bench browsers`; not part of the package."""
