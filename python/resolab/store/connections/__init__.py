"""Connections seen by the edge: their clients, and the requests and queries on them."""
