"""The ledger: what it counts outlives it, is shared, and no cap is exceeded in simulated time."""

import contextlib
import sqlite3
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolab.basics.errors import ConfigurationError, StorageError
from resolab.plan.manners import (
    HARD_CAPS,
    Caps,
    ContactRefusal,
    Ledger,
    OptOut,
    RefusalReason,
    StopReason,
    StopSign,
    resolver_host,
    state_folder,
    stop_sign_of_load,
)
from resolab.plan.manners.ledger_file import LEDGER

T0 = 1_790_000_000.0
HOUR, DAY = 3_600.0, 86_400.0
CAPS = Caps(
    loads_per_site_per_hour=3,
    loads_per_site_per_day=5,
    loads_per_hour=6,
    queries_per_resolver_per_second=2,
    queries_per_resolver_per_hour=400,
)


def opened(folder: Path, *, now_s: float = T0, run: str = "one") -> Ledger:
    return Ledger.open(folder, CAPS, run=run, now_s=now_s)


def fill(ledger: Ledger, site: str, times: int) -> None:
    for _ in range(times):
        assert ledger.wait_s(T0, site=site) == 0
        ledger.note(T0, site=site)


def test_the_cap_of_a_site_holds_for_its_whole_registrable_domain(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    fill(ledger, "https://www.shop.test/", 2)
    fill(ledger, "cdn.shop.test", 1)
    assert ledger.wait_s(T0, site="shop.test") == HOUR
    assert ledger.wait_s(T0, site="other.test") == 0


def test_a_restart_keeps_counts(tmp_path: Path) -> None:
    fill(opened(tmp_path), "shop.test", 3)
    again = opened(tmp_path, now_s=T0 + 60, run="another plan")
    assert again.wait_s(T0 + 60, site="shop.test") == HOUR - 60


def test_what_another_process_notes_counts_at_once(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    fill(one, "shop.test", 2)
    fill(other, "shop.test", 1)
    assert one.wait_s(T0, site="shop.test") == other.wait_s(T0, site="shop.test") == HOUR


def test_old_rows_are_removed_while_another_process_goes_on(tmp_path: Path) -> None:
    one = opened(tmp_path)
    fill(one, "shop.test", 3)
    opened(tmp_path, now_s=T0 + DAY + 1)
    assert one.wait_s(T0, site="shop.test") == 0
    one.note(T0, site="shop.test")
    assert one.wait_s(T0, site="shop.test") == 0


def test_a_ledger_that_is_removed_or_replaced_is_not_counted_in_any_more(tmp_path: Path) -> None:
    one = opened(tmp_path)
    fill(one, "shop.test", 1)
    for _ in range(3):
        (tmp_path / LEDGER).unlink()
        fill(opened(tmp_path, run="other"), "shop.test", 3)
        assert one.wait_s(T0, site="shop.test") == HOUR


def test_what_is_no_ledger_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / LEDGER).write_bytes(b"nonsense" * 1000)
    with pytest.raises(ConfigurationError, match=r"could not read .*ledger\.sqlite.*a day after the last load"):
        opened(tmp_path)


def test_a_ledger_of_a_later_version_is_left_as_it_is(tmp_path: Path) -> None:
    opened(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / LEDGER)) as ledger:
        ledger.execute("PRAGMA user_version = 2")
    with pytest.raises(ConfigurationError, match="a later resolab made it"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="XDG_STATE_HOME"):
        opened(tmp_path / "file" / "below")


def test_the_folder_is_the_users_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "resolab"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert state_folder() == Path("/home/somebody/.local/state/resolab")
    Ledger.open(tmp_path / "new", CAPS, run="", now_s=T0)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_queries_are_taken_for_many_until_they_are_counted(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    noted = ledger.note(T0, site="a.test", resolver="9.9.9.9", queries_count=300)
    assert ledger.wait_s(T0 + 1, resolver="9.9.9.9", queries_count=200) == HOUR - 1
    ledger.settle(noted, 40)
    assert ledger.wait_s(T0 + 1, resolver="9.9.9.9", queries_count=200) == 0
    assert ledger.wait_s(T0 + 1, resolver="9.9.9.9", queries_count=361) == HOUR - 1
    assert opened(tmp_path).wait_s(T0 + 1, resolver="9.9.9.9", queries_count=361) == HOUR - 1


def test_paced_queries_keep_the_next_ones_waiting(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.note(T0, resolver="9.9.9.9", queries_count=10)
    assert ledger.wait_s(T0 + 1, resolver="9.9.9.9", queries_count=1) == pytest.approx(4)
    assert ledger.wait_s(T0 + 1, resolver="1.1.1.1", queries_count=1) == 0
    with pytest.raises(ConfigurationError, match="above the cap of 400 an hour"):
        ledger.wait_s(T0, resolver="9.9.9.9", queries_count=401)


def test_a_stop_sign_holds_for_the_run_and_for_others_until_its_instant(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    sign = stop_sign_of_load("https://www.shop.test/x", now_s=T0, status=429, retry_after="7200")
    assert sign is not None
    ledger.note_stop(T0, sign)
    later, much_later = T0 + 7_100, T0 + 20 * DAY
    found = ledger.wait_s(later, site="shop.test")
    assert isinstance(found, ContactRefusal)
    assert found.reason is RefusalReason.STOPPED
    assert "429" in found.detail
    assert "\n" not in found.detail
    assert isinstance(opened(tmp_path, now_s=later, run="other").wait_s(later, site="shop.test"), ContactRefusal)
    assert opened(tmp_path, now_s=T0 + 7_201, run="other").wait_s(T0 + 7_201, site="shop.test") == 0
    # The same run, resumed.
    assert isinstance(opened(tmp_path, now_s=much_later).wait_s(much_later, site="shop.test"), ContactRefusal)
    assert ledger.wait_s(T0, site="other.test") == 0


def test_a_resolver_that_refuses_is_left_alone_with_loads_and_queries(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.note_stop(T0, StopSign(reason=StopReason.REFUSED, resolver="9.9.9.9", until_s=T0 + HOUR))
    assert isinstance(ledger.wait_s(T0, resolver="9.9.9.9", queries_count=1), ContactRefusal)
    assert isinstance(ledger.wait_s(T0, site="a.test", resolver="9.9.9.9"), ContactRefusal)
    assert ledger.wait_s(T0, site="a.test", resolver="1.1.1.1") == 0


def test_a_resolver_on_the_list_is_refused(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.opt_out = OptOut.read("quad9.net\n9.9.9.9\n2620:FE:0::fe", source="list")
    for resolver in ("dns.quad9.net", "9.9.9.9", resolver_host("[2620:fe:0::fe]")):
        found = ledger.wait_s(T0, site="a.test", resolver=resolver)
        assert isinstance(found, ContactRefusal)
        assert (found.reason, found.detail) == (RefusalReason.OPTED_OUT, f"{resolver} is on the opt-out list")
    assert ledger.wait_s(T0, site="a.test", resolver="1.9.9.9") == 0


def test_who_is_on_the_list_is_refused_from_when_it_is_fetched(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.wait_s(T0, site="www.shop.test") == 0
    ledger.opt_out = OptOut.read("shop.test", source="list")
    found = ledger.wait_s(T0, site="https://www.shop.test/")
    assert isinstance(found, ContactRefusal)
    assert found.reason is RefusalReason.OPTED_OUT
    ledger.opt_out = OptOut.read("www.shop.test", source="list")
    assert ledger.wait_s(T0, site="shop.test") == 0


def test_a_clock_that_was_set_back_makes_no_room(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    fill(ledger, "shop.test", 3)
    wait = ledger.wait_s(T0 - DAY, site="shop.test")
    assert isinstance(wait, float)
    assert wait >= HOUR


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["a.test", "b.test", "www.b.test"]),
        st.sampled_from(["9.9.9.9", "1.1.1.1"]),
        st.integers(0, 200),
        st.sampled_from([0.0, 1.0, 500.0, 1_799.5, 4_000.0]),
        st.booleans(),
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_no_cap_is_exceeded_in_simulated_time(steps: list[tuple[str, str, int, float, bool]]) -> None:
    loads: list[tuple[float, str]] = []
    queries: list[tuple[float, str, int]] = []
    now = T0
    with TemporaryDirectory() as folder:
        ledger = opened(Path(folder))
        for site, resolver, asked, passes_s, restarts in steps:
            now += passes_s
            if restarts:
                ledger = opened(Path(folder), now_s=now)
            wait = ledger.wait_s(now, site=site, resolver=resolver, queries_count=200)
            assert isinstance(wait, float)
            now += wait
            while (more := ledger.wait_s(now, site=site, resolver=resolver, queries_count=200)) != 0:
                assert isinstance(more, float)
                assert more < 1e-3, "the rounding of instants alone may be left"
                now += max(more, 1e-6)
            ledger.settle(ledger.note(now, site=site, resolver=resolver, queries_count=200), asked)
            loads.append((now, site[-6:]))
            queries.append((now, resolver, asked))
    for end_s, site in loads:
        in_hour = Counter(one for at_s, one in loads if end_s - HOUR < at_s <= end_s)
        in_day = Counter(one for at_s, one in loads if end_s - DAY < at_s <= end_s)
        assert in_hour.total() <= CAPS.loads_per_hour
        assert in_hour[site] <= CAPS.loads_per_site_per_hour
        assert in_day[site] <= CAPS.loads_per_site_per_day
    for end_s, resolver, _ in queries:
        total = sum(count for at_s, one, count in queries if one == resolver and end_s - HOUR < at_s <= end_s)
        assert total <= CAPS.queries_per_resolver_per_hour


def test_waiting_never_costs_more_than_it_must(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    for minute in range(3):
        ledger.note(T0 + 60 * minute, site="a.test")
    assert ledger.wait_s(T0 + 200, site="a.test") == HOUR - 200
    ledger.note(T0 + HOUR, site="a.test")
    assert ledger.wait_s(T0 + HOUR + 1, site="a.test") == 59


def test_hard_caps_are_the_default(tmp_path: Path) -> None:
    assert Ledger.open(tmp_path, run="", now_s=T0).caps is HARD_CAPS
