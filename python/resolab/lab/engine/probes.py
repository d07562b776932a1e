"""Measure a running path with resolab-core's probes.

For: the command lines of `probe udp` and `probe tcp` and their records. Not for: judging the records (`calibration`).
"""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from resolab.basics.errors import ResolabError
from resolab.basics.installation import find_core
from resolab.basics.records import BulkTransferRecord, LinkDirection, ProbeRecord, Record
from resolab.lab.engine.process import CoreProcess

LINE_LIMIT_BYTES = 64 << 20
"""The longest line read, in bytes. A train of a million packets is one line."""
PATIENCE_S = 30.0
"""The time limit of a probe beyond the probe's own duration, in s."""
CONNECT_S = 60.0

RecordT = TypeVar("RecordT", bound=msgspec.Struct)


async def send_train(
    path_pid: int,
    direction: LinkDirection,
    *,
    packets_count: int,
    packet_bytes: int,
    interval_us: float,
    silence_ms: int = 2_000,
    label: str | None = None,
) -> ProbeRecord:
    """Send a train of packets in one direction; `silence_ms` after the last arrival, missing packets count as lost."""
    arguments = ["--packets", str(packets_count), "--packet-bytes", str(packet_bytes)]
    arguments += ["--interval-us", f"{interval_us:.3f}", "--silence-ms", str(silence_ms)]
    duration_s = packets_count * interval_us / 1e6 + silence_ms / 1e3
    return await _probe("udp", path_pid, direction, arguments, duration_s, label, ProbeRecord)


async def run_transfer(
    path_pid: int,
    direction: LinkDirection,
    *,
    warm_up_ms: int,
    seconds: float,
    congestion_control: str | None = None,
    label: str | None = None,
) -> BulkTransferRecord:
    """Send over a single TCP connection at full speed.

    The link may stay busy with the queued rest of the transfer for a while after.
    """
    arguments = ["--warm-up-ms", str(warm_up_ms), "--seconds", f"{seconds:.3f}"]
    if congestion_control is not None:
        arguments += ["--congestion-control", congestion_control]
    duration_s = CONNECT_S + warm_up_ms / 1e3 + seconds
    return await _probe("tcp", path_pid, direction, arguments, duration_s, label, BulkTransferRecord)


async def _probe(
    mode: str,
    path_pid: int,
    direction: LinkDirection,
    arguments: Sequence[str],
    duration_s: float,
    label: str | None,
    kind: type[RecordT],
) -> RecordT:
    command = [str(find_core()), "probe", mode, "--path", str(path_pid), "--direction", direction.value, *arguments]
    if label is not None:
        command += ["--label", label]
    found: list[RecordT] = []

    def keep(record: Record) -> None:
        if isinstance(record, kind):
            found.append(record)

    process = await CoreProcess.start("the probe", command, keep, line_limit_bytes=LINE_LIMIT_BYTES)
    try:
        await process.wait(duration_s + PATIENCE_S)
    finally:
        # One that was waited for has ended; one that was abandoned is stopped at once.
        await process.close(timeout_s=0.1)
    if not found:
        raise ResolabError(f"the probe wrote no {kind.__name__}")
    return found[0]
