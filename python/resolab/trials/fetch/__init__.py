"""Trials of the kind `fetch`: a name and a document, fetched by our own client on one connection or two.

For: `FetchRunner`. Not for: path and edge (`lab`).
"""
