"""The reasons for leaving a host alone: a stop sign of the host, or the opt-out list.

For: refusals in words for people. Not for: signs (`stop`), keeping the signs (`ledger`), or fetching the list
(`opt_out_fetch`).
"""

import enum
from dataclasses import dataclass
from datetime import UTC, datetime


class RefusalReason(enum.StrEnum):
    """The reason for not contacting a host at all."""

    OPTED_OUT = "opted_out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactRefusal:
    """A forbidden load or query; recorded instead of the trial, never dropped."""

    reason: RefusalReason
    detail: str
    """A line for people: the refusing host, the answer and the end of the refusal."""


def refuse_opted_out(host: str) -> ContactRefusal:
    """Return the refusal for a host on the list, or below a listed domain."""
    return ContactRefusal(reason=RefusalReason.OPTED_OUT, detail=f"{host} is on the opt-out list")


def refuse_after_stop_sign(who: str, sign: str, until_s: float | None) -> ContactRefusal:
    """Return the refusal for a site's or resolver's sign; without `until_s`, for the rest of the run."""
    if until_s is None:
        until = "for the rest of the run"
    else:
        until = f"until {datetime.fromtimestamp(until_s, UTC).isoformat(timespec='minutes').replace('+00:00', 'Z')}"
    return ContactRefusal(reason=RefusalReason.STOPPED, detail=f"{who} answered {sign}: left alone {until}")
