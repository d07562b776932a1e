"""Connections as the edge saw them: whose they were, and what they carried."""
