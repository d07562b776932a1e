"""The facts of a page model inferred from a recording: discoverers, redirects, hosts and times."""
