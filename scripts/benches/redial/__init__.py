"""What it costs that connections are closed while idle: `scripts/bench redial`."""
