"""`scripts/bench gateway`: what browsers get of it, what it passes and what that costs (docs/method/gateway.md)."""
