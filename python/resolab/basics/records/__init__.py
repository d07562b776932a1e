"""The records exchanged with resolab-core and kept in trial files, as typed structs.

For: one import path for the records generated from `crates/record`. Not for: reading or writing files.
"""

from resolab.basics.records._generated import *  # noqa: F403
from resolab.basics.records.instrument_failures import INSTRUMENT_FAILURES as INSTRUMENT_FAILURES
from resolab.basics.records.labels import MEASURED_LABEL as MEASURED_LABEL
from resolab.basics.records.look_up import look_up_ms as look_up_ms
