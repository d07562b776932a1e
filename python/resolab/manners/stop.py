"""What tells us to leave a site or a resolver alone.

For: pure rules on what came back. Not for: keeping to them (`ledger`). A sign is no failure class: the load or query
that brought it is recorded as what it was.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from resolab.manners.opt_out import OptOut
from resolab.records import QueryRecord
from resolab.wording import shown

LEFT_ALONE_S = 3_600.0
"""How long at least every run of this user leaves alone who sent a sign; the run that got it never comes back."""
LEFT_ALONE_AT_MOST_S = 366 * 24 * 3_600.0
"""A Retry-After that asks for longer counts as this: any host that a page reaches can send one."""
LONGEST_DATE = 100
"""Letters; what is longer is no date."""
REFUSED = "REFUSED"
"""The rcode, as records have it."""


class StopReason(enum.StrEnum):
    """Which sign it was."""

    TOO_MANY_REQUESTS = "too_many_requests"
    """HTTP 429 (RFC 6585 section 4) of the page or of anything it asked for."""
    FORBIDDEN = "forbidden"
    """HTTP 403 of the page."""
    UNAVAILABLE = "unavailable"
    """HTTP 503 of the page with a Retry-After (RFC 9110 section 15.6.4)."""
    REFUSED = "refused"
    """A resolver's REFUSED (RFC 1035 section 4.1.1)."""
    REACHES_OPTED_OUT = "reaches_opted_out"
    """The page asked for something of a host that is on the opt-out list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSign:
    """Whom to leave alone, why and until when at least, in seconds of the wall clock."""

    reason: StopReason
    until_s: float
    site: str | None = None
    resolver: str | None = None
    detail: str = ""


def stop_sign_of_load(
    site: str, *, now_s: float, status: int | None, statuses: Iterable[int | None] = (), retry_after: str | None = None
) -> StopSign | None:
    """Read a load: the document's status, those of all its requests, and the Retry-After of what had 429 or 503.

    A browser that shows a page of its own for an answer without a body tells no status of a document: then there are no
    parts, and what any request was answered is the document's.
    """
    told = [one for one in statuses if one is not None]
    of_document = {status} if status is not None else set(told)
    asked_s = retry_after_s(retry_after, now_s=now_s)
    until_s = now_s + max(LEFT_ALONE_S, asked_s or 0.0)
    if 429 in {status, *told}:
        return StopSign(reason=StopReason.TOO_MANY_REQUESTS, site=site, until_s=until_s, detail="HTTP status 429")
    if 403 in of_document:
        return StopSign(reason=StopReason.FORBIDDEN, site=site, until_s=until_s, detail="HTTP status 403")
    if 503 in of_document and asked_s is not None:
        detail = f"HTTP status 503, Retry-After {shown(retry_after or '')}"
        return StopSign(reason=StopReason.UNAVAILABLE, site=site, until_s=until_s, detail=detail)
    return None


def stop_sign_of_query(record: QueryRecord, resolver: str, *, now_s: float) -> StopSign | None:
    """Read a query's response; `resolver` is the name under which the ledger counts it."""
    if record.rcode != REFUSED:
        return None
    detail = f"{REFUSED} for {shown(record.qname)} {record.qtype}"
    return StopSign(reason=StopReason.REFUSED, resolver=resolver, until_s=now_s + LEFT_ALONE_S, detail=detail)


def retry_after_s(value: str | None, *, now_s: float) -> float | None:
    """Return how many seconds a Retry-After field asks for, as seconds or a date (RFC 9110 section 10.2.3).

    At least 0, at most `LEFT_ALONE_AT_MOST_S`; None where it is neither.
    """
    if value is None:
        return None
    text = value.strip()
    try:
        asked_s = float(text) if text.isascii() and text.isdigit() else _seconds_until(text, now_s)
    except (ValueError, OverflowError, OSError):
        return None
    return min(max(0.0, asked_s), LEFT_ALONE_AT_MOST_S)


def _seconds_until(date: str, now_s: float) -> float:
    """Read a date; raises `ValueError` where it is none.

    One that names no zone is of GMT, as all of HTTP's are (RFC 9110 section 5.6.7).
    """
    if len(date) > LONGEST_DATE:
        raise ValueError("it is too long for a date")
    read = parsedate_to_datetime(date)
    return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).timestamp() - now_s


def stop_sign_of_hosts(site: str, hosts: Iterable[str], opt_out: OptOut, *, now_s: float) -> StopSign | None:
    """Read whom a page made the browser ask: the page of somebody who is on the list is not loaded again."""
    listed = next((host for host in hosts if opt_out.covers(host)), None)
    if listed is None:
        return None
    detail = f"with a page that asks {shown(listed)}, which is on the opt-out list"
    return StopSign(reason=StopReason.REACHES_OPTED_OUT, site=site, until_s=now_s + LEFT_ALONE_S, detail=detail)
