"""The waits of a dataset's loads: critical paths, lookups, connections, by load and by arm."""

from resolab.report.sections.paths.loads import LoadPath, LoadPaths, load_paths
from resolab.report.sections.paths.summary import PathSummary, path_summaries

__all__ = ["LoadPath", "LoadPaths", "PathSummary", "load_paths", "path_summaries"]
