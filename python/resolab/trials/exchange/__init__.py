"""Trials of the kind `exchange`: queries of our own client to the resolver, without a browser.

For: `ExchangeRunner`. Not for: path and edge (`lab`).
"""
