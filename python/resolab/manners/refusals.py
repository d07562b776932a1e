"""Why somebody is left alone: a stop sign of theirs, or the opt-out list.

For: refusals in the words people read. Not for: signs (`stop`), keeping them (`ledger`), or fetching the list
(`fetching`).
"""

import enum
from dataclasses import dataclass
from datetime import UTC, datetime


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


def opted_out(host: str) -> Refusal:
    """Refuse a host that is on the list, or below a domain that is."""
    return Refusal(reason=RefusalReason.OPTED_OUT, detail=f"{host} is on the opt-out list")


def stopped(who: str, sign: str, until_s: float | None) -> Refusal:
    """Refuse a site or resolver for its sign; without an instant it is left alone for the rest of the run."""
    if until_s is None:
        until = "for the rest of the run"
    else:
        until = f"until {datetime.fromtimestamp(until_s, UTC).isoformat(timespec='minutes').replace('+00:00', 'Z')}"
    return Refusal(reason=RefusalReason.STOPPED, detail=f"{who} answered {sign}: left alone {until}")
