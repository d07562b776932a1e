"""The agent of a vantage point: its loop over jobs, its worker process, its spool and its operator's limits."""
