"""Connections in the report's tables: their hellos, and their requests."""
