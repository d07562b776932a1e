"""`scripts/bench gateway`: round trips of browsers, throughput and cost of the gateway (docs/method/gateway.md)."""
