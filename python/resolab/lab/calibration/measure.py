"""Measure one profile: start a path for the profile, send the probes one after another, and record the results.

For: the order of the probes and their durations. Not for: judging (the modules of the quantities).
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from resolab.basics.errors import ResolabError
from resolab.basics.records import (
    CalibrationCheck,
    CalibrationRecord,
    DirectionProfile,
    LinkDirection,
    LinkProfile,
    PathBackend,
    PathReadyRecord,
    PathSummaryRecord,
    Record,
    StartRecord,
)
from resolab.lab import engine
from resolab.lab.calibration import probe_design
from resolab.lab.calibration.delay import delay_checks
from resolab.lab.calibration.lateness import path_checks
from resolab.lab.calibration.loss import loss_check
from resolab.lab.calibration.profiles import ProfileFile
from resolab.lab.calibration.saturation import saturation_checks
from resolab.lab.calibration.train import Train
from resolab.lab.calibration.transfer import bulk_check
from resolab.lab.calibration.verdict import UNITS

PREFERRED_CONGESTION_CONTROL = "cubic"
OnPhase = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings for measuring profiles."""

    seconds: float = 20.0
    """Time budget of a profile, without set-up and slowly varying delays."""
    seed: int = 1
    keep_awake: bool = True
    backend: PathBackend | None = None


@dataclass(slots=True)
class _PathRecords:
    """The records received from the path."""

    version: str = "unknown"
    summaries: list[PathSummaryRecord] = field(default_factory=list)

    def keep(self, record: Record) -> None:
        if isinstance(record, StartRecord):
            self.version = record.version
        elif isinstance(record, PathSummaryRecord):
            self.summaries.append(record)


async def calibrate(profile: ProfileFile, settings: Settings, on_phase: OnPhase) -> CalibrationRecord:
    """Measure a profile through a path of its own; `on_phase` receives the name of each phase."""
    heard = _PathRecords()
    unix_ns, load_average = time.time_ns(), os.getloadavg()[0]
    async with contextlib.AsyncExitStack() as stack:
        path = await engine.Path.start(
            profile.file,
            seed=settings.seed,
            keep_awake=settings.keep_awake,
            backend=settings.backend,
            hold_schedule=True,
            on_record=heard.keep,
        )
        stack.push_async_callback(path.close)
        checks = await _Probing(path.ready, settings.seconds, on_phase).run()
        await path.summary(label="calibration")
    if not heard.summaries:
        raise ResolabError("the path gave no account of the calibration")
    checks += path_checks(heard.summaries[-1])
    return _record(path.ready, settings, heard.version, unix_ns, load_average, checks)


def duration_s(seconds: float) -> float:
    """Return the approximate duration of measuring a profile."""
    trains = probe_design.SPARSE_PART + probe_design.DENSE_PART / 2 + 2 * probe_design.SATURATION_PART
    return seconds * (trains + 2 * probe_design.TRANSFER_PART) + 5.0


class _Probing:
    def __init__(self, ready: PathReadyRecord, seconds: float, on_phase: OnPhase) -> None:
        self._pid, self._profile = ready.pid, ready.profile
        self._seconds, self._on_phase = seconds, on_phase

    async def run(self) -> list[CalibrationCheck]:
        """Send all probes; probes of both directions run at once when they cannot disturb each other."""
        sparse, dense = await self._sparse(), await self._dense()
        checks: list[CalibrationCheck] = []
        for direction, way, back in _ways(self._profile):
            checks += delay_checks(sparse[direction], way)
            trains = [sparse[direction]] + ([dense[direction]] if direction in dense else [])
            checks.append(loss_check(trains, way))
            checks += await self._saturate(direction, way)
            checks.append(await self._transfer(direction, way, back))
        return checks

    async def _sparse(self) -> dict[LinkDirection, Train]:
        self._on_phase("delay")
        plans = {direction: probe_design.sparse_train(way, self._seconds) for direction, way, _ in _ways(self._profile)}
        return await self._send(plans)

    async def _dense(self) -> dict[LinkDirection, Train]:
        ways = _ways(self._profile)
        plans = {direction: probe_design.dense_train(way, self._seconds) for direction, way, _ in ways}
        wanted = {direction: plan for direction, plan in plans.items() if plan is not None}
        if wanted:
            self._on_phase("loss")
        return await self._send(wanted)

    async def _saturate(self, direction: LinkDirection, way: DirectionProfile) -> list[CalibrationCheck]:
        plan = probe_design.saturation_train(way, self._profile.mtu_bytes or 1500, self._seconds)
        if plan is None:
            return []
        self._on_phase(f"rate {direction.value}")
        return saturation_checks((await self._send({direction: plan}))[direction], way)

    async def _transfer(
        self, direction: LinkDirection, way: DirectionProfile, back: DirectionProfile
    ) -> CalibrationCheck:
        self._on_phase(f"bulk {direction.value}")
        plan = probe_design.transfer(way, back, self._seconds)
        record = await engine.run_transfer(
            self._pid,
            direction,
            warm_up_ms=plan.warm_up_ms,
            seconds=plan.seconds,
            congestion_control=congestion_control(),
        )
        await asyncio.sleep(probe_design.drain_s(way))
        return bulk_check(record, way, back)

    async def _send(self, plans: dict[LinkDirection, probe_design.TrainPlan]) -> dict[LinkDirection, Train]:
        tasks = [asyncio.create_task(self._send_one(direction, plan)) for direction, plan in plans.items()]
        try:
            trains = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return dict(zip(plans, trains, strict=True))

    async def _send_one(self, direction: LinkDirection, plan: probe_design.TrainPlan) -> Train:
        record = await engine.send_train(
            self._pid,
            direction,
            packets_count=plan.packets_count,
            packet_bytes=plan.packet_bytes,
            interval_us=plan.interval_us,
            silence_ms=plan.silence_ms,
        )
        return Train.from_record(record)


def _ways(profile: LinkProfile) -> list[tuple[LinkDirection, DirectionProfile, DirectionProfile]]:
    """Return both directions, each together with the opposite direction."""
    return [(LinkDirection.UP, profile.up, profile.down), (LinkDirection.DOWN, profile.down, profile.up)]


def congestion_control() -> str | None:
    """Return the preferred congestion control when the kernel has it; otherwise `None`, for the machine's default."""
    try:
        known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text("ascii").split()
    except OSError:
        return None
    return PREFERRED_CONGESTION_CONTROL if PREFERRED_CONGESTION_CONTROL in known else None


def _record(
    ready: PathReadyRecord,
    settings: Settings,
    version: str,
    unix_ns: int,
    load_average: float,
    checks: list[CalibrationCheck],
) -> CalibrationRecord:
    order = list(UNITS)
    return CalibrationRecord(
        profile=ready.profile,
        backend=ready.backend,
        realtime_scheduling=ready.realtime_scheduling,
        keep_awake=ready.keep_awake,
        rootless=ready.rootless,
        seed=settings.seed,
        core_version=version,
        unix_ns=unix_ns,
        load_average=load_average,
        checks=sorted(checks, key=lambda check: (order.index(check.quantity), check.direction != LinkDirection.UP)),
    )
