"""Which answers mean: leave us alone."""

import math

import msgspec
import pytest
from recorded_queries import recorded

from resolab.manners import (
    OptOut,
    StopReason,
    retry_after_s,
    stop_sign_of_hosts,
    stop_sign_of_load,
    stop_sign_of_query,
)

NOW = 1_790_000_000.0


def signed(
    status: int | None, *others: int | None, retry_after: str | None = None
) -> tuple[StopReason | None, float | None]:
    sign = stop_sign_of_load("shop.test", now_s=NOW, status=status, statuses=others, retry_after=retry_after)
    return (None, None) if sign is None else (sign.reason, sign.until_s - NOW)


def test_signs_of_a_load() -> None:
    assert signed(200, 200, 404, None) == (None, None)
    assert signed(None) == (None, None)
    assert signed(429) == (StopReason.TOO_MANY_REQUESTS, 3_600)
    assert signed(200, 200, 429) == (StopReason.TOO_MANY_REQUESTS, 3_600)
    assert signed(403) == (StopReason.FORBIDDEN, 3_600)
    assert signed(200, 403) == (None, None), "of a part, such as an advertisement, it says nothing about the page"
    assert signed(None, None, 403) == (StopReason.FORBIDDEN, 3_600), "Chromium's own page for an empty answer"
    assert signed(None, 404) == (None, None)
    assert signed(503) == (None, None)
    assert signed(503, retry_after="5") == (StopReason.UNAVAILABLE, 3_600)
    assert signed(503, retry_after="86400") == (StopReason.UNAVAILABLE, 86_400)
    assert signed(429, retry_after="7200") == (StopReason.TOO_MANY_REQUESTS, 7_200)


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after_s("120", now_s=NOW) == 120
    assert retry_after_s(" 0 ", now_s=NOW) == 0
    assert retry_after_s("Mon, 21 Sep 2026 14:13:20 GMT", now_s=NOW) == 0
    assert retry_after_s("Mon, 21 Sep 2026 16:13:20 GMT", now_s=NOW) == pytest.approx(7_200)
    assert retry_after_s("soon", now_s=NOW) is None
    assert retry_after_s(None, now_s=NOW) is None
    assert retry_after_s("9" * 400, now_s=NOW) == math.inf


def test_a_resolver_that_refuses_is_told_from_one_that_fails() -> None:
    found = [stop_sign_of_query(record, "r", now_s=NOW) for record in recorded()]
    assert found
    assert set(found) == {None}
    sign = stop_sign_of_query(msgspec.structs.replace(recorded()[0], rcode="REFUSED"), "9.9.9.9", now_s=NOW)
    assert sign is not None
    assert (sign.reason, sign.resolver, sign.site) == (StopReason.REFUSED, "9.9.9.9", None)


def test_a_page_that_reaches_somebody_on_the_list_is_not_loaded_again() -> None:
    listed = OptOut.read("tracker.test", source="list")
    assert stop_sign_of_hosts("shop.test", ["shop.test", "cdn.test"], listed, now_s=NOW) is None
    sign = stop_sign_of_hosts("shop.test", ["shop.test", "a.tracker.test"], listed, now_s=NOW)
    assert sign is not None
    assert (sign.reason, sign.site) == (StopReason.REACHES_OPTED_OUT, "shop.test")
