"""The code shared by benchmarks: servers, load generators, parts, progress and the printed result.

Not for: code of a single benchmark; see its folder.
"""
