"""A dataset's look-ups, for holding them against a box's truth. Not for: tables (`store`)."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from resolab.errors import ConfigurationError
from resolab.records import QueryPurpose, QueryRecord, Record


def look_ups_of(dataset: Path) -> Iterator[QueryRecord]:
    """Read the measured look-ups of every trial."""
    files = sorted((dataset / "trials").glob("*.jsonl"))
    if not files:
        raise ConfigurationError(f"failed to read dataset {dataset}: it has no trials/*.jsonl")
    decoder = msgspec.json.Decoder(Record)
    for file in files:
        for line in file.read_bytes().splitlines():
            if b'"record":"query"' in line:
                record = decoder.decode(line)
                if isinstance(record, QueryRecord) and record.purpose is QueryPurpose.MEASURED:
                    yield record
