"""The effect of client subnets on a resolver's cache: `scripts/bench client-subnet`."""
