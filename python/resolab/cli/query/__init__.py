"""The command `resolab query`: its arguments, its progress and its results.

Not for: asking (`resolab.extras.queries`).
"""
