"""The calibrations of a dataset: `calibration.jsonl`, one record a line.

For: appending and reading. Not for: trials; a calibration belongs to the dataset as a whole.
"""

import os
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import CalibrationRecord
from resolab.store.files import machine_errors
from resolab.store.folder import CALIBRATION, dataset_folder

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(CalibrationRecord)


def append_calibration(folder: Path, record: CalibrationRecord) -> Path:
    """Append one record to a dataset; on return the record is on the disk."""
    file = dataset_folder(folder) / CALIBRATION
    with machine_errors(f"write {file}"), file.open("ab") as stream:
        stream.write(_ENCODER.encode(record) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    return file


def read_calibrations(folder: Path) -> list[CalibrationRecord]:
    """Read all records of a dataset, oldest first; empty without a calibration."""
    file = folder / CALIBRATION
    if not file.exists():
        return []
    records = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            records.append(_DECODER.decode(line))
        except msgspec.MsgspecError as error:
            raise ConfigurationError(f"failed to read {file} line {number}: {error}") from error
    return records
