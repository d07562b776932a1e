"""What the loads of a dataset waited for: critical paths, look-ups, connections, by load and by arm."""

from resolab.report.paths.loads import LoadPath, LoadPaths, load_paths
from resolab.report.paths.summary import PathSummary, path_summaries

__all__ = ["LoadPath", "LoadPaths", "PathSummary", "load_paths", "path_summaries"]
