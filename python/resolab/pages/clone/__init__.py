"""Clones of page models: names, addresses and files that make a stock browser do what the page did."""
