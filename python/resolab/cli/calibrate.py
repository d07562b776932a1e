"""`resolab calibrate`: measure profiles through the path, requested values against measured values.

For: joining calibration and store, and the output for people. Not for: measuring or judging.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

import msgspec
from rich.markup import escape
from rich.table import Table

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import CalibrationCheck, CalibrationRecord, PathBackend
from resolab.basics.wording import format_count
from resolab.cli.console import Console
from resolab.lab.calibration import ProfileFile, Settings, calibrate, duration_s, find_profiles, pass_all
from resolab.plan import Corpus
from resolab.store import append_calibration, load_manifest, machine_errors, refuse_published

EXIT_OUTSIDE = 1
SHORTEST_S, LONGEST_S = 2.0, 600.0
SCALES = {"bps": (1e-6, "Mbit/s"), "ratio": (100.0, "%"), "bytes": (1e-3, "kB")}
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Destinations:
    """The destinations of records besides the screen."""

    json: bool
    output: Path | None
    dataset: Path | None


def run(
    names: Sequence[str], *, seconds: float, seed: int, keep_awake: bool, backend: str | None, to: Destinations
) -> int:
    """Calibrate profiles one after another; every record is stored at once."""
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise ConfigurationError(f"--seconds {seconds:g} is outside {SHORTEST_S:g} to {LONGEST_S:g}")
    profiles = find_profiles(names, Corpus.from_project())
    if to.dataset is not None:
        _check_profile(to.dataset, profiles)
    settings = Settings(
        seconds=seconds, seed=seed, keep_awake=keep_awake, backend=PathBackend(backend) if backend else None
    )
    records = asyncio.run(_calibrate_all(profiles, settings, to))
    return 0 if pass_all(records) else EXIT_OUTSIDE


def _check_profile(dataset: Path, profiles: Sequence[ProfileFile]) -> None:
    """Raise for a profile without trials in the dataset: its calibration would be meaningless there."""
    refuse_published(dataset, "add a calibration to")
    own = [profile.name for profile in load_manifest(dataset).profiles]
    strangers = [profile.name for profile in profiles if profile.name not in own]
    if strangers:
        problem = f"{dataset} has no trials on {', '.join(strangers)}"
        raise ConfigurationError(f"{problem}; calibrate its own profiles, {', '.join(own)}, or leave --dataset out")


async def _calibrate_all(
    profiles: Sequence[ProfileFile], settings: Settings, to: Destinations
) -> list[CalibrationRecord]:
    progress = _Progress(len(profiles), duration_s(settings.seconds))
    records = []
    with _RecordSink(to) as sink, progress.console.status("") as status:
        progress.begin()
        for profile in profiles:

            def show(phase: str, name: str = profile.name) -> None:
                status.update(progress.line(name, phase))

            record = await calibrate(profile, settings, show)
            records.append(record)
            sink.take(record)
            progress.done(record)
    return records


class _Progress:
    """Progress messages for a waiting person, on standard error."""

    def __init__(self, count: int, estimate_s: float) -> None:
        self.console = Console(stderr=True)
        self._count, self._done, self._estimate_s = count, 0, estimate_s
        self._started_s = time.monotonic()

    def begin(self) -> None:
        """Print the expected duration."""
        what = format_count(self._count, "profile")
        self.console.print(f"calibrating {what}, about {_duration(self._count * self._estimate_s)}", highlight=False)

    def line(self, name: str, phase: str) -> str:
        """Return the current step as text."""
        return escape(f"{self._done + 1}/{self._count} {name}: {phase}, ETA {_duration(self._estimate_left_s())}")

    def done(self, record: CalibrationRecord) -> None:
        """Count a finished profile."""
        self._done += 1
        if not self.console.is_terminal and self._done < self._count:
            verdict = "within" if pass_all([record]) else "OUTSIDE"
            left = _duration(self._estimate_left_s())
            self.console.print(
                f"{self._done}/{self._count} {record.profile.name}: {verdict}, ETA {left}", highlight=False
            )

    def _estimate_left_s(self) -> float:
        elapsed_s = time.monotonic() - self._started_s
        if not self._done:
            return max(0.0, self._count * self._estimate_s - elapsed_s)
        return (self._count - self._done) * elapsed_s / self._done


class _RecordSink:
    """A sink for records: the screen, a file, a dataset."""

    def __init__(self, to: Destinations) -> None:
        self._to = to
        self._console = Console(width=None if Console().is_terminal else 120)
        self._stream: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self._to.output is not None:
            with machine_errors(f"write {self._to.output}"):
                self._stream = self._to.output.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def take(self, record: CalibrationRecord) -> None:
        """Store one record."""
        line = msgspec.json.encode(record)
        if self._stream is not None:
            with machine_errors(f"write {self._to.output}"):
                self._stream.write(line + b"\n")
                self._stream.flush()
        if self._to.dataset is not None:
            append_calibration(self._to.dataset, record)
        if self._to.json:
            print(line.decode(), flush=True)
        else:
            self._console.print(_table(record))


def _table(record: CalibrationRecord) -> Table:
    conditions = [record.backend.value, f"seed {record.seed}", f"load {record.load_average:.2f}"]
    conditions += ["real-time"] if record.realtime_scheduling else ["no real-time scheduling"]
    conditions += ["rootless"] if record.rootless else []
    conditions += ["kept awake"] if record.keep_awake else []
    verdict = "within tolerance" if pass_all([record]) else "[red]OUTSIDE TOLERANCE[/red]"
    title = f"{escape(record.profile.name)}: {verdict} ({', '.join(conditions)})"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in ("direction", "quantity", "unit"):
        table.add_column(column)
    for column in ("asked", "got", "error", "tolerance", "n"):
        table.add_column(column, justify="right")
    table.add_column("verdict")
    for check in record.checks:
        table.add_row(*_row(check))
    return table


def _row(check: CalibrationCheck) -> tuple[str, ...]:
    scale, unit = SCALES.get(check.unit, (1.0, check.unit))

    def number(value: float | None) -> str:
        return "" if value is None else f"{value * scale:.{DIGITS}g}"

    error = None if check.asked is None else check.got - check.asked
    return (
        check.direction.value,
        check.quantity,
        unit,
        number(check.asked),
        number(check.got),
        "" if error is None else f"{error * scale:+.3g}",
        "" if check.tolerance is None else f"{check.tolerance * scale:.3g}",
        str(check.observations_count),
        {True: "within", False: "[red]OUTSIDE[/red]", None: "not judged"}[check.within],
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
