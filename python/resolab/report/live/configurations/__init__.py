"""Loads of a dataset by configuration: a transport to a resolver, with the other varying levels of the look-up.

For: pairs of configurations within blocks and pages, and their sampling units. Not for: the plan's comparisons
(`findings`), or drawing.
"""
