"""The ledger: what this user's runs asked of whom, on disk, so that caps hold across runs, restarts and plans.

For: the rim between the rules (`counts`, `refusals`) and a JSON Lines file in the user's state folder. Not for: taking
turns (`turn`), which is what makes asking and noting one step.

Lines are appended under a lock; those that no rule looks at any more are dropped when the file is opened.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from resolab.errors import ConfigurationError, StorageError
from resolab.manners.caps import HARD_CAPS, QUERIES_PER_LOAD, Caps
from resolab.manners.counts import DAY_S, Counts
from resolab.manners.lines import DECODER, Line, LoadLine, QueriesLine, StopLine, encoded
from resolab.manners.opt_out import NOBODY, OptOut
from resolab.manners.refusals import Refusal, Refusals
from resolab.manners.sites import host_of, site_of
from resolab.manners.stop import StopSign

LEDGER, LEDGER_LOCK = "ledger.jsonl", "ledger.lock"
STOPS_KEPT_S = 30 * DAY_S
"""A run that is resumed later than this may come back to who stopped it."""


def state_folder() -> Path:
    """Return the folder of this user's ledger (XDG Base Directory: XDG_STATE_HOME, else ~/.local/state).

    An internet in a box is new each time: its programs get an XDG_STATE_HOME in the box's own folder.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    # Relative ones are to be ignored, says the specification.
    base = Path(given) if Path(given).is_absolute() else Path(os.path.expanduser("~")) / ".local" / "state"  # noqa: PTH111
    return base / "resolab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What was noted of one load or row of queries; its number of queries is settled when they are counted."""

    at_s: float
    resolver: str | None
    queries_count: int


class Ledger:
    """The counts of all runs and the refusals that hold for this one; instants are seconds of the wall clock."""

    def __init__(self, folder: Path, caps: Caps, *, run: str) -> None:
        self.folder, self.caps = folder, caps
        self.opt_out: OptOut = NOBODY
        """Fetched anew before each batch, by whoever runs batches."""
        self._run = run
        self._read_until: tuple[int, int] | None = None
        self._counts, self._refusals = Counts(caps), Refusals(run)

    @classmethod
    def open(cls, folder: Path | None = None, caps: Caps = HARD_CAPS, *, run: str, now_s: float) -> Self:
        """Open the ledger of a folder, by default this user's; `run` names the campaign, across its resumptions.

        Raises `StorageError` where it cannot be written, `ConfigurationError` where it is not ours.
        """
        ledger = cls(folder or state_folder(), caps, run=run)
        with _storage_errors(ledger.folder):
            ledger.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ledger._locked():
            ledger._drop_old(now_s)
        return ledger

    def wait_s(
        self,
        now_s: float,
        *,
        site: str | None = None,
        resolver: str | None = None,
        queries_count: int = QUERIES_PER_LOAD,
    ) -> float | Refusal:
        """Return how long to wait before a load of a site (URL or host), queries to a resolver, or both; or a refusal.

        Without a `site` it is about our own client's queries, without a `resolver` about a load whose queries nobody
        counts. A load may ask `queries_count` queries until it is settled.
        """
        with self._locked():
            self._catch_up()
        host = None if site is None else host_of(site)
        name = None if site is None else site_of(site)
        refusal = self._refusals.of(now_s, site=name, host=host, resolver=resolver, opt_out=self.opt_out)
        if refusal is not None:
            return refusal
        most = self.caps.queries_per_resolver_per_hour
        if queries_count > most:
            raise ConfigurationError(f"{queries_count} queries at once are above the cap of {most} an hour: ask fewer")
        return self._counts.wait_s(now_s, site=name, resolver=resolver, queries_count=queries_count)

    def note(
        self,
        now_s: float,
        *,
        site: str | None = None,
        resolver: str | None = None,
        queries_count: int = QUERIES_PER_LOAD,
    ) -> Noted:
        """Note what begins now, with the arguments `wait_s` allowed; queries without a load are asked with pauses."""
        lines: list[Line] = []
        if site is not None:
            lines.append(LoadLine(at_s=now_s, site=site_of(site)))
        if resolver is not None and queries_count:
            lines.append(QueriesLine(at_s=now_s, resolver=resolver, queries_count=queries_count, paced=site is None))
        self._append(lines)
        return Noted(at_s=now_s, resolver=resolver, queries_count=queries_count)

    def settle(self, noted: Noted, queries_count: int) -> None:
        """Put the number of queries a load asked in the place of what it was taken to ask."""
        more = queries_count - noted.queries_count
        if noted.resolver is not None and more:
            self._append([QueriesLine(at_s=noted.at_s, resolver=noted.resolver, queries_count=more)])

    def note_stop(self, now_s: float, sign: StopSign) -> None:
        """Leave a site or a resolver alone from now on: this run for good, others until the sign's instant."""
        self._append([
            StopLine(
                at_s=now_s, reason=sign.reason, until_s=sign.until_s, run=self._run,
                site=None if sign.site is None else site_of(sign.site), resolver=sign.resolver, detail=sign.detail,
            )
        ])  # fmt: skip

    def _append(self, lines: list[Line]) -> None:
        with self._locked():
            with _storage_errors(self.folder), (self.folder / LEDGER).open("ab") as file:
                file.write(b"".join(map(encoded, lines)))
            self._catch_up()

    def _catch_up(self) -> None:
        """Take in what was written since the last look, by this process or another."""
        file = self.folder / LEDGER
        with _storage_errors(self.folder):
            if not file.exists():
                return
            with file.open("rb") as stream:
                state = os.fstat(stream.fileno())
                if self._read_until is not None and self._read_until[0] == state.st_ino:
                    stream.seek(self._read_until[1])
                else:
                    # The first look, or another process has dropped old lines.
                    self._counts, self._refusals = Counts(self.caps), Refusals(self._run)
                lines = _lines(stream.read(), file)
        self._read_until = (state.st_ino, state.st_size)
        self._counts.take(lines)
        self._refusals.take(lines)

    def _drop_old(self, now_s: float) -> None:
        """Write the file anew with the lines that still count; what a killed process wrote half goes, too."""
        file = self.folder / LEDGER
        with _storage_errors(self.folder):
            if not file.exists():
                return
            text = file.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            kept = [line for line in _lines(whole, file) if _counts_still(line, now_s)]
            partial = file.with_name(f"{LEDGER}.partial")
            partial.write_bytes(b"".join(map(encoded, kept)))
            partial.replace(file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _storage_errors(self.folder):
            lock = (self.folder / LEDGER_LOCK).open("w")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _lines(text: bytes, file: Path) -> list[Line]:
    try:
        return [DECODER.decode(line) for line in text.splitlines()]
    except msgspec.MsgspecError as error:
        raise ConfigurationError(
            f"could not read {file}: {error}; without it nobody knows what was asked: move it away an hour after the "
            "last load"
        ) from error


def _counts_still(line: Line, now_s: float) -> bool:
    match line:
        case LoadLine() | QueriesLine():
            return line.at_s > now_s - DAY_S
        case StopLine():
            return line.until_s > now_s or line.at_s > now_s - STOPS_KEPT_S


@contextmanager
def _storage_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"could not keep the ledger of what was asked in {folder}: {error.strerror or error}; "
            "give a folder you may write with XDG_STATE_HOME"
        ) from error
