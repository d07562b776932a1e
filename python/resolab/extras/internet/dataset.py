"""Read a dataset's look-ups, for comparison with a box's truth. Not for: tables (`store`)."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import QueryPurpose, QueryRecord, Record, TrialRecord
from resolab.plan.live import LAB

_DECODER = msgspec.json.Decoder(Record)


def read_look_ups(dataset: Path) -> Iterator[tuple[str, QueryRecord]]:
    """Read the measured look-ups of every trial, with the vantage point of each."""
    files = sorted((dataset / "trials").glob("*.jsonl"))
    if not files:
        raise ConfigurationError(f"failed to read dataset {dataset}: it has no trials/*.jsonl")
    for file in files:
        yield from _read_look_ups(file)


def read_look_ups_at(dataset: Path, place: str | None) -> Iterator[QueryRecord]:
    """Read the look-ups from the vantage point named like a place.

    Without this vantage point in the dataset, read all look-ups.
    """
    every = list(read_look_ups(dataset))
    is_among = any(vantage == place for vantage, _ in every)
    return (record for vantage, record in every if vantage == place or not is_among)


def _read_look_ups(file: Path) -> Iterator[tuple[str, QueryRecord]]:
    vantage = LAB
    for line in file.read_bytes().splitlines():
        if b'"record":"query"' in line or b'"record":"trial"' in line:
            record = _DECODER.decode(line)
            if isinstance(record, TrialRecord):
                vantage = record.vantage_point
            elif isinstance(record, QueryRecord) and record.purpose is QueryPurpose.MEASURED:
                yield vantage, record
