"""Programs running inside the box's hosts, each a file needing only Python. Not for: importing."""
