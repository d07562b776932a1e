"""Programs that run inside the box's hosts, each a file that needs nothing but Python. Not for: being imported."""
