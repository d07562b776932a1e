"""The ledger: this user's loads and queries by contacted host, on disk, for caps across runs, restarts and plans.

For: the caps' rules over a database of loads, queries and stop signs in the user's state folder. Not for: taking turns
(`turn`), which makes the check and the note a single step, or the database itself (`ledger_file`).

Instants are seconds of the wall clock, valid across a restart.
"""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from resolab.basics.errors import ConfigurationError
from resolab.plan.manners.caps import HARD_CAPS, QUERIES_PER_LOAD, Caps
from resolab.plan.manners.ledger_file import LedgerFile
from resolab.plan.manners.opt_out import NOBODY, OptOut
from resolab.plan.manners.refusals import ContactRefusal, refuse_after_stop_sign, refuse_opted_out
from resolab.plan.manners.sites import find_site, read_host
from resolab.plan.manners.stop import StopSign

HOUR_S, DAY_S = 3_600.0, 86_400.0
STOPS_KEPT_S = 30 * DAY_S
"""The retention of stop signs, in s. A run resumed after this time may contact the stopping host again."""


def state_folder() -> Path:
    """Return the folder of this user's ledger (XDG Base Directory: XDG_STATE_HOME, else ~/.local/state).

    An internet in a box is new each time: programs in the box get an XDG_STATE_HOME in the box's own folder.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    # Relative ones are to be ignored, says the specification.
    base = Path(given) if Path(given).is_absolute() else Path(os.path.expanduser("~")) / ".local" / "state"  # noqa: PTH111
    return base / "resolab"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerNote:
    """The ledger's note of a load or a row of queries; the number of queries is corrected after counting."""

    at_s: float
    resolver: str | None
    queries_count: int
    row: int | None
    """The row id of the queries in the ledger; `None` without queries."""


class Ledger:
    """The counts of all runs and the refusals for this run."""

    def __init__(self, folder: Path, caps: Caps, *, run: str) -> None:
        self.folder, self.caps = folder, caps
        self.opt_out: OptOut = NOBODY
        """The opt-out list, fetched anew before each batch by the caller."""
        self._run = run
        self._file = LedgerFile(folder)

    @classmethod
    def open(cls, folder: Path | None = None, caps: Caps = HARD_CAPS, *, run: str, now_s: float) -> Self:
        """Open the ledger of a folder, by default this user's; `run` names the campaign, across resumptions.

        Removes the rows no longer used by any rule. Raises `StorageError` when the ledger is not writable,
        `ConfigurationError` when the file is not a ledger of resolab.
        """
        ledger = cls(folder or state_folder(), caps, run=run)
        with ledger._file.open_for_writing() as rows:
            rows.execute("DELETE FROM loads WHERE at_s <= ?", (now_s - DAY_S,))
            rows.execute("DELETE FROM queries WHERE at_s <= ?", (now_s - DAY_S,))
            rows.execute("DELETE FROM stops WHERE until_s <= ? AND at_s <= ?", (now_s, now_s - STOPS_KEPT_S))
        return ledger

    def wait_s(
        self,
        now_s: float,
        *,
        site: str | None = None,
        resolver: str | None = None,
        queries_count: int = QUERIES_PER_LOAD,
    ) -> float | ContactRefusal:
        """Return the wait before a load of a site (URL or host), queries to a resolver, or both; or a refusal.

        Without a `site` the wait is for our own client's queries; without a `resolver`, for a load with uncounted
        queries. A load may send up to `queries_count` queries until its number is settled.
        """
        for host in (None if site is None else read_host(site), resolver):
            if host is not None and self.opt_out.covers(host):
                return refuse_opted_out(host)
        most = self.caps.queries_per_resolver_per_hour
        if queries_count > most:
            raise ConfigurationError(f"{queries_count} queries at once are above the cap of {most} an hour: ask fewer")
        name = None if site is None else find_site(site)
        with self._file.open_for_reading() as rows:
            refusal = self._refusal(rows, now_s, name, resolver)
            if refusal is not None:
                return refusal
            waits = [0.0]
            if name is not None:
                waits += self._waits_of_site(rows, now_s, name)
            if resolver is not None:
                waits += self._waits_of_resolver(rows, now_s, resolver, queries_count)
        return max(waits)

    def note(
        self,
        now_s: float,
        *,
        site: str | None = None,
        resolver: str | None = None,
        queries_count: int = QUERIES_PER_LOAD,
    ) -> LedgerNote:
        """Note a load or queries beginning now, with the arguments allowed by `wait_s`.

        Queries without a load are sent with pauses.
        """
        row = None
        with self._file.open_for_writing() as rows:
            if site is not None:
                rows.execute("INSERT INTO loads (at_s, site) VALUES (?, ?)", (now_s, find_site(site)))
            if resolver is not None and queries_count:
                row = _insert_queries(rows, now_s, resolver, queries_count, paced=site is None)
        return LedgerNote(at_s=now_s, resolver=resolver, queries_count=queries_count, row=row)

    def settle(self, noted: LedgerNote, queries_count: int) -> None:
        """Replace the reserved number of queries of a load by the counted number."""
        if noted.resolver is None or queries_count == noted.queries_count:
            return
        with self._file.open_for_writing() as rows:
            changed = rows.execute(
                "UPDATE queries SET queries_count = ? WHERE id = ? AND at_s = ? AND resolver = ?",
                (queries_count, noted.row, noted.at_s, noted.resolver),
            )
            if not changed.rowcount:
                # It was removed meanwhile, with its file or for its age.
                _insert_queries(rows, noted.at_s, noted.resolver, queries_count, paced=False)

    def note_stop(self, now_s: float, sign: StopSign) -> None:
        """Leave a site or a resolver alone from now on: this run for good, other runs until the sign's instant."""
        site = None if sign.site is None else find_site(sign.site)
        with self._file.open_for_writing() as rows:
            rows.execute(
                "INSERT INTO stops (at_s, reason, until_s, run, site, resolver, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (now_s, sign.reason.value, sign.until_s, self._run, site, sign.resolver, sign.detail),
            )

    def _refusal(
        self, rows: sqlite3.Cursor, now_s: float, site: str | None, resolver: str | None
    ) -> ContactRefusal | None:
        found = rows.execute(
            "SELECT COALESCE(site, resolver), reason, detail, until_s, run = ?1 FROM stops"
            " WHERE (site = ?2 OR resolver = ?3) AND (run = ?1 OR until_s > ?4) ORDER BY run <> ?1, until_s DESC",
            (self._run, site, resolver, now_s),
        ).fetchone()
        if found is None:
            return None
        who, reason, detail, until_s, is_this_run = found
        return refuse_after_stop_sign(who, detail or reason, None if is_this_run else until_s)

    def _waits_of_site(self, rows: sqlite3.Cursor, now_s: float, site: str) -> list[float]:
        """Return the waits until the load filling a cap leaves the cap's window: the `cap`-th load from the end."""
        of_site = "SELECT at_s FROM loads WHERE site = ? AND at_s > ? ORDER BY at_s DESC LIMIT 1 OFFSET ?"
        of_all = "SELECT at_s FROM loads WHERE at_s > ? ORDER BY at_s DESC LIMIT 1 OFFSET ?"
        hourly, daily, together = (
            self.caps.loads_per_site_per_hour, self.caps.loads_per_site_per_day, self.caps.loads_per_hour,
        )  # fmt: skip
        filling = [
            (HOUR_S, rows.execute(of_site, (site, now_s - HOUR_S, hourly - 1)).fetchone()),
            (DAY_S, rows.execute(of_site, (site, now_s - DAY_S, daily - 1)).fetchone()),
            (HOUR_S, rows.execute(of_all, (now_s - HOUR_S, together - 1)).fetchone()),
        ]
        return [found[0] + window_s - now_s for window_s, found in filling if found is not None]

    def _waits_of_resolver(self, rows: sqlite3.Cursor, now_s: float, resolver: str, queries_count: int) -> list[float]:
        """Return the waits until paced queries are done, and until the last hour leaves room for more queries."""
        busy_until = rows.execute(
            "SELECT MAX(at_s + queries_count * ?) FROM queries WHERE resolver = ? AND paced",
            (self.caps.query_interval_ms / 1e3, resolver),
        ).fetchone()[0]
        waits = [] if busy_until is None else [busy_until - now_s]
        recent = rows.execute(
            "SELECT at_s, queries_count FROM queries WHERE resolver = ? AND at_s > ? ORDER BY at_s",
            (resolver, now_s - HOUR_S),
        ).fetchall()
        room, total = self.caps.queries_per_resolver_per_hour - queries_count, sum(count for _, count in recent)
        for at_s, count in recent:
            if total <= room:
                break
            total -= count
            waits.append(at_s + HOUR_S - now_s)
        return waits


def _insert_queries(rows: sqlite3.Cursor, at_s: float, resolver: str, queries_count: int, *, paced: bool) -> int | None:
    return rows.execute(
        "INSERT INTO queries (at_s, resolver, queries_count, paced) VALUES (?, ?, ?, ?)",
        (at_s, resolver, queries_count, paced),
    ).lastrowid
