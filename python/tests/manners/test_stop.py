"""Which answers mean: leave us alone."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_queries import recorded

from resolab.plan.manners import (
    OptOut,
    StopReason,
    retry_after_s,
    stop_sign_of_hosts,
    stop_sign_of_load,
    stop_sign_of_query,
)
from resolab.plan.manners.stop import LEFT_ALONE_AT_MOST_S

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
    assert retry_after_s("Mon, 21 Sep 2026 16:13:20 -0000", now_s=NOW) == pytest.approx(7_200), "of GMT, anywhere"


@pytest.mark.parametrize(
    "value",
    ["999999999999", "9" * 400, "9" * 100_000, "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 -2359"],
)
def test_nobody_asks_for_more_than_a_year(value: str) -> None:
    assert retry_after_s(value, now_s=NOW) in {LEFT_ALONE_AT_MOST_S, None}
    assert signed(429, retry_after=value)[1] in {LEFT_ALONE_AT_MOST_S, 3_600}


@pytest.mark.parametrize(
    "value", ["-5", "1e400", "inf", "nan", "\u0665", "1_0", "0x10", "Mon, 21 Sep 2026 99:13:20 GMT", ""]
)
def test_what_is_no_number_of_seconds_asks_for_nothing(value: str) -> None:
    assert retry_after_s(value, now_s=NOW) is None


@settings(max_examples=200)
@given(
    st.text(max_size=60) | st.from_regex(r"[A-Z][a-z]{2}, \d{1,9} [A-Z][a-z]{2} -?\d{1,12} \d+:\d+:\d+ [-+]?\w{1,12}")
)
def test_whatever_a_header_says_a_sign_can_be_kept_and_shown(value: str) -> None:
    asked_s = retry_after_s(value, now_s=NOW)
    assert asked_s is None or 0 <= asked_s <= LEFT_ALONE_AT_MOST_S
    sign = stop_sign_of_load("shop.test", now_s=NOW, status=503, retry_after=value)
    assert sign is None or (sign.detail.isprintable() and len(sign.detail) < 300)


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
