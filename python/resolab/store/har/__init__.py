"""Measured page loads as HTTP Archives (HAR 1.2), for HAR viewers and tools.

For: one trial's file into one archive. Not for: loads without a record, or anything new: every number is in the dataset
already.
"""

from resolab.store.har.archive import archive
from resolab.store.har.trial import ArchivedTrial, sort_records
from resolab.store.har.write import har_text, write_archive, write_archives

__all__ = [
    "ArchivedTrial",
    "archive",
    "har_text",
    "sort_records",
    "write_archive",
    "write_archives",
]
