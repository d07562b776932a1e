"""A trial of our own as a recording: its archive (`resolab.har`), read as any other.

Not for: measured loads as data; datasets have tables for that.
"""

from pathlib import Path

import msgspec

from resolab.har.archive import archive
from resolab.recordings.har import read_har
from resolab.recordings.recording import Recording
from resolab.store import read_trial


def read_trial_file(_content: bytes | memoryview, shown: str) -> Recording:
    """Read the measured load of a trial's file."""
    found = read_har(msgspec.json.encode(archive(read_trial(Path(shown)))), shown)
    found.form = "trial"
    return found
