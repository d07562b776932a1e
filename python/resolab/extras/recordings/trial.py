"""A trial of our own as a recording: the trial's archive (`resolab.store.har`), read as any other HAR.

Not for: measured loads as data; datasets have tables for these.
"""

from pathlib import Path

import msgspec

from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.recording import Recording
from resolab.store import trial_records
from resolab.store.har.archive import archive


def read_trial_file(content: bytes | memoryview, shown: str) -> Recording:
    """Read the measured load of a trial's file."""
    records = trial_records(bytes(content).splitlines(), Path(shown))
    found = read_har(msgspec.json.encode(archive(records)), shown)
    found.form = "trial"
    return found
