"""Connections in the report's tables: their hellos, and what they carried."""
