"""What client subnets do to a resolver's cache: `scripts/bench client-subnet`."""
