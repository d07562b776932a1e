"""The signs for leaving a site or a resolver alone.

For: pure rules on responses. Not for: obeying the signs (`ledger`). A sign is not a failure class: the load or query
with the sign is recorded with its own outcome.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from resolab.basics.records import QueryRecord
from resolab.basics.wording import clip_text
from resolab.plan.manners.opt_out import OptOut

LEFT_ALONE_S = 3_600.0
"""The least time, in s, for which every run of this user leaves the sender of a sign alone. The run receiving the sign
never comes back."""
LEFT_ALONE_AT_MOST_S = 366 * 24 * 3_600.0
"""The upper limit of a Retry-After, in s: any host reached by a page can send a longer time."""
LONGEST_DATE = 100
"""The maximum length of a date, in letters; longer text is no date."""
REFUSED = "REFUSED"
"""The rcode REFUSED, as written in records."""


class StopReason(enum.StrEnum):
    """The kind of a stop sign."""

    TOO_MANY_REQUESTS = "too_many_requests"
    """HTTP 429 (RFC 6585 section 4) for the page or any request of the page."""
    FORBIDDEN = "forbidden"
    """HTTP 403 for the page itself."""
    UNAVAILABLE = "unavailable"
    """HTTP 503 for the page with a Retry-After (RFC 9110 section 15.6.4)."""
    REFUSED = "refused"
    """The response REFUSED of a resolver (RFC 1035 section 4.1.1)."""
    REACHES_OPTED_OUT = "reaches_opted_out"
    """A request of the page to a host on the opt-out list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSign:
    """A site or resolver to leave alone, with the reason and the earliest end, in seconds of the wall clock."""

    reason: StopReason
    until_s: float
    site: str | None = None
    resolver: str | None = None
    detail: str = ""


def stop_sign_of_load(
    site: str, *, now_s: float, status: int | None, statuses: Iterable[int | None] = (), retry_after: str | None = None
) -> StopSign | None:
    """Find a sign in a load: the status of the document and of all requests, and the Retry-After of a 429 or 503.

    A browser showing its own page for an answer without a body reports no document status. Such a load has no other
    parts, so the status of any request is the document's status.
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
        detail = f"HTTP status 503, Retry-After {clip_text(retry_after or '')}"
        return StopSign(reason=StopReason.UNAVAILABLE, site=site, until_s=until_s, detail=detail)
    return None


def stop_sign_of_query(record: QueryRecord, resolver: str, *, now_s: float) -> StopSign | None:
    """Find a sign in a query's response; `resolver` is the resolver's name in the ledger."""
    if record.rcode != REFUSED:
        return None
    detail = f"{REFUSED} for {clip_text(record.qname)} {record.qtype}"
    return StopSign(reason=StopReason.REFUSED, resolver=resolver, until_s=now_s + LEFT_ALONE_S, detail=detail)


def retry_after_s(value: str | None, *, now_s: float) -> float | None:
    """Return the seconds requested by a Retry-After field, from seconds or a date (RFC 9110 section 10.2.3).

    The result is at least 0 and at most `LEFT_ALONE_AT_MOST_S`; `None` for other text.
    """
    if value is None:
        return None
    text = value.strip()
    try:
        asked_s = float(text) if text.isascii() and text.isdigit() else _compute_seconds_until(text, now_s)
    except (ValueError, OverflowError, OSError):
        return None
    return min(max(0.0, asked_s), LEFT_ALONE_AT_MOST_S)


def _compute_seconds_until(date: str, now_s: float) -> float:
    """Return the seconds until a date; raises `ValueError` for other text.

    A date without a zone is in GMT, like all dates of HTTP (RFC 9110 section 5.6.7).
    """
    if len(date) > LONGEST_DATE:
        raise ValueError("it is too long for a date")
    read = parsedate_to_datetime(date)
    return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).timestamp() - now_s


def stop_sign_of_hosts(site: str, hosts: Iterable[str], opt_out: OptOut, *, now_s: float) -> StopSign | None:
    """Find a sign in the hosts contacted by a page: a page contacting a listed host is not loaded again."""
    listed = next((host for host in hosts if opt_out.covers(host)), None)
    if listed is None:
        return None
    detail = f"with a page that asks {clip_text(listed)}, which is on the opt-out list"
    return StopSign(reason=StopReason.REACHES_OPTED_OUT, site=site, until_s=now_s + LEFT_ALONE_S, detail=detail)
