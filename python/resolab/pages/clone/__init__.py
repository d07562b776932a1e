"""Clones of page models: names, addresses and files for repeating a page's load in a stock browser."""
