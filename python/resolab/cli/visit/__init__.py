"""The command `resolab visit`: its arguments, its progress and its results.

Not for: loading (`resolab.extras.visit`).
"""
