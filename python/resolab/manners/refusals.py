"""Who is left alone: who sent a stop sign, and who is on the opt-out list.

For: the rules, pure. Not for: signs (`stop`) or fetching the list (`fetching`).
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from resolab.manners.lines import Line, StopLine
from resolab.manners.opt_out import OptOut


class RefusalReason(enum.StrEnum):
    """Why something is not asked at all."""

    OPTED_OUT = "opted_out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A load or query that must not be; recorded in the trial's place, never dropped."""

    reason: RefusalReason
    detail: str
    """One line for people: who said what, and until when."""


class Refusals:
    """Stop signs that hold for one run."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._stops: list[StopLine] = []

    def take(self, lines: Iterable[Line]) -> None:
        """Keep the stop signs."""
        self._stops += [line for line in lines if isinstance(line, StopLine)]

    def of(
        self, now_s: float, *, site: str | None, host: str | None, resolver: str | None, opt_out: OptOut
    ) -> Refusal | None:
        """Say why a site or a resolver is left alone, if it is; a host of the site may be on the list alone."""
        if host is not None and opt_out.covers(host):
            detail = f"{host} is on the opt-out list"
            return Refusal(reason=RefusalReason.OPTED_OUT, detail=detail)
        for stop in self._stops:
            concerned = stop.site is not None and stop.site == site
            concerned |= stop.resolver is not None and stop.resolver == resolver
            if concerned and (stop.run == self._run or stop.until_s > now_s):
                return Refusal(reason=RefusalReason.STOPPED, detail=_told(stop, self._run))
        return None


def _told(stop: StopLine, run: str) -> str:
    who, what = stop.site or stop.resolver or "", stop.detail or stop.reason.value
    if stop.run == run:
        return f"{who} answered {what}: left alone for the rest of the run"
    try:
        until = datetime.fromtimestamp(stop.until_s, UTC).isoformat(timespec="minutes").replace("+00:00", "Z")
    except (OverflowError, ValueError):
        until = "further notice"
    return f"{who} answered {what}: left alone until {until}"
