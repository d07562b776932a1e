"""What several benchmarks need: servers to ask, loads to put on them, parts, progress and the printed result.

Not for: what only one of them measures, which stands in its own folder.
"""
