"""A live bed with pretended browsers and without a network: who is left alone, what is recorded, what is settled."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from live_queries import query

from resolab.basics.errors import MachineError
from resolab.basics.records import (
    BrowserKind,
    CacheState,
    LiveTrialRecord,
    LiveWay,
    PageFailure,
    PageLoadRecord,
    QueryRecord,
    ResourceRecord,
)
from resolab.browser import LoadRequest, LoadResult, NetworkRequest, Overhead, PageLoad, PageTimings
from resolab.plan import Plan, parse_plan
from resolab.plan.corpus import Corpus
from resolab.trials.live import LiveBed, bed, browsers, resolver_addresses, trial
from resolab.trials.trial_result import TrialResult

TEXT = """
name = "live"
question = "q?"
seed = 7
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://study.resolab.test/"
{network}
[sites]
urls = ["https://a.test/?secret=1", "https://b.test/"]
[resolvers.local]
doudp = "system"
[resolvers.quick]
doudp = "198.18.8.1"
[factors]
resolver = ["local", "quick"]
dns_transport = ["doudp"]
browser = ["firefox"]
[baseline]
resolver = "local"
"""


class PretendedPlace:
    """A machine on which everything can be done, and nothing is."""

    way = LiveWay.ROOT
    note = "pretended"
    stub_address = "127.64.0.1"
    own_names = "127.0.0.1 localhost"
    own_sandbox = False
    system_nameserver: str | None = "198.18.0.53"
    forwards_to = ()
    refused: str | None = None

    def browser_prefix(self, nameserver: str, *, hosts_file: Path | None = None) -> list[str]:
        return ["enter", nameserver]

    def stub_prefix(self) -> list[str]:
        return []

    def stub_arguments(self) -> list[str]:
        return []

    def refusal(self, *, by_stub: bool, speaks_doh: bool, nameserver: str | None = None) -> str | None:
        return self.refused


class PretendedBrowser:
    """Loads whatever it is told to."""

    name, version, pid, usable = "firefox", "153.0", 1, True
    started: list[tuple[Any, Any]] = []  # noqa: RUF012 - shared on purpose: of all browsers of a test
    loaded: list[str] = []  # noqa: RUF012
    status = 200
    retry_after: str | None = None
    rcode = "NOERROR"
    """What the resolver says to our client."""
    pings_count = 0

    async def start(self, prefix: Any, settings: Any) -> None:
        self.started.append((prefix, settings))

    async def load(self, request: LoadRequest) -> LoadResult:
        assert not request.warmup
        if not request.url.startswith("http://127.0.0.1"):
            self.loaded.append(request.url)
        good = self.status == 200
        page = PageLoad(
            url=request.url, measured=True, limit_ms=request.timeout_s * 1e3, status=self.status,
            timings=PageTimings(plt_ms=99.0) if good else None,
            failure=None if good else PageFailure.HTTP_STATUS,
            resources=[ResourceRecord(url=request.url, initiator_type="navigation", start_ms=0.0)],
            network=[
                NetworkRequest(
                    url=request.url, resource_type="document", method="GET", start_ms=0.0, status=self.status,
                    retry_after=self.retry_after,
                ),
                NetworkRequest(url="https://cdn.test/x?y=z", resource_type="img", method="GET", start_ms=1.0),
            ],
            console_errors=["what the page says"],
        )  # fmt: skip
        return LoadResult(warmup=None, measured=page, overhead=Overhead())

    async def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Our client and its pings are pretended, too; returns the names it was asked for."""
    asked: list[list[str]] = []

    async def ask(_client: Any, _reached: Any, names: list[str], *, interval_ms: int) -> list[QueryRecord]:
        assert interval_ms > 0
        asked.append(list(names))
        return [
            query(number, 300, qname=f"{name}.", qtype=qtype, rcode=PretendedBrowser.rcode)
            for number in range(2)
            for name in names
            for qtype in ("A", "AAAA")
        ]

    async def ping(_client: Any, _reached: Any) -> None:
        PretendedBrowser.pings_count += 1

    monkeypatch.setattr(trial, "ask", ask)
    monkeypatch.setattr(trial, "ping", ping)
    monkeypatch.setattr(trial, "STUB_WRITES_WITHIN_S", 0.0)
    monkeypatch.setattr(bed, "VERSION_OF", {BrowserKind.FIREFOX: lambda: "Mozilla Firefox 153.0"})
    monkeypatch.setattr(browsers, "MOST", 1)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("RESOLAB_AUTHORITY", raising=False)
    PretendedBrowser.started, PretendedBrowser.loaded, PretendedBrowser.status = [], [], 200
    PretendedBrowser.retry_after, PretendedBrowser.rcode, PretendedBrowser.pings_count = None, "NOERROR", 0
    return asked


def plan_with(network: str = "") -> Plan:
    return parse_plan(TEXT.format(network=network), "live.toml", Corpus.from_project())


def run(
    plan: Plan, folder: Path, trials: list[tuple[str, str]], place: PretendedPlace | None = None
) -> list[TrialResult]:
    """Run trials of resolver and page, one block each."""

    async def carried_out() -> list[TrialResult]:
        makers: Any = {BrowserKind.FIREFOX: PretendedBrowser}
        async with LiveBed(plan, folder, place=place or PretendedPlace(), makers=makers) as live:
            found = []
            for number, (resolver, page) in enumerate(trials):
                condition = next(one for one in plan.conditions() if (one.resolver, one.page) == (resolver, page))
                found.append(await live.run_trial(condition, f"b{number:03}-t000"))
            return found

    return asyncio.run(carried_out())


def of_kind(result: TrialResult, kind: Any) -> Any:
    return [one for one in result.records if isinstance(one, kind)]


PAGE = "a_test_secret_1"


def test_a_trial_leaves_load_queries_and_how_it_was_carried_out(
    tmp_path: Path, nobody_is_asked: list[list[str]]
) -> None:
    (result,) = run(plan_with(), tmp_path, [("quick", PAGE)])
    (load,), (own,) = of_kind(result, PageLoadRecord), of_kind(result, LiveTrialRecord)
    assert (load.plt_ms, load.failure, load.dns_cache_state) == (99.0, None, "cold")
    assert nobody_is_asked == [["a.test", "cdn.test"]]
    assert len(of_kind(result, QueryRecord)) == 8
    assert (own.way, own.resolver, own.resolver_address) == (LiveWay.ROOT, "quick", "198.18.8.1")
    assert own.system_resolver == "198.18.0.53"
    assert own.names == ["a.test", "cdn.test"]
    assert own.stop_sign is None
    prefix, settings = PretendedBrowser.started[0]
    assert prefix == ["enter", "198.18.8.1"]
    assert settings.extra_preferences["general.useragent.override"] == own.user_agent
    assert own.user_agent.endswith("(+https://study.resolab.test/)")


def test_nothing_of_what_was_said_is_kept(tmp_path: Path) -> None:
    (result,) = run(plan_with(), tmp_path, [("local", PAGE)])
    text = json.dumps([str(record) for record in result.records])
    assert "secret" not in text
    assert "what the page says" not in text
    assert of_kind(result, ResourceRecord)[0].url == "https://a.test/"


def test_cache_states_follow_the_trials(tmp_path: Path) -> None:
    first, again = run(plan_with(), tmp_path, [("quick", PAGE), ("quick", PAGE)])
    states = [one.cache_state for one in of_kind(first, QueryRecord)]
    assert states.count(CacheState.FIRST_ASKED) == 2, "AAAA, which no browser without IPv6 asks for"
    assert {one.cache_state for one in of_kind(again, QueryRecord)} == {CacheState.WITHIN_TTL}


def test_names_that_are_known_are_asked_for_before_the_load(tmp_path: Path, nobody_is_asked: list[list[str]]) -> None:
    run(plan_with("known_names_first = true"), tmp_path, [("quick", PAGE), ("local", PAGE)])
    assert nobody_is_asked == [["a.test"], ["cdn.test"], ["a.test", "cdn.test"]]


def test_a_site_that_says_stop_is_left_alone_for_the_rest_and_in_the_record(tmp_path: Path) -> None:
    PretendedBrowser.status = 429
    told, left = run(plan_with(), tmp_path, [("quick", PAGE), ("local", PAGE)])
    assert of_kind(told, LiveTrialRecord)[0].stop_sign == "too_many_requests"
    (load,) = of_kind(left, PageLoadRecord)
    assert load.failure is PageFailure.LEFT_ALONE
    assert "429" in load.failure_detail
    assert left.failed
    assert PretendedBrowser.loaded == ["https://a.test/?secret=1"]


def test_a_site_that_is_busy_is_left_alone_if_it_says_how_long(tmp_path: Path) -> None:
    PretendedBrowser.status = 503
    once, again = run(plan_with(), tmp_path / "without", [("quick", PAGE), ("local", PAGE)])
    assert of_kind(once, LiveTrialRecord)[0].stop_sign is None
    assert of_kind(again, PageLoadRecord)[0].failure is PageFailure.HTTP_STATUS
    PretendedBrowser.retry_after = "3600"
    told, left = run(plan_with(), tmp_path / "with", [("quick", PAGE), ("local", PAGE)])
    assert of_kind(told, LiveTrialRecord)[0].stop_sign == "unavailable"
    assert of_kind(left, PageLoadRecord)[0].failure is PageFailure.LEFT_ALONE


def test_a_resolver_that_refuses_before_the_load_is_not_asked_by_a_browser_or_pinged(
    tmp_path: Path, nobody_is_asked: list[list[str]]
) -> None:
    PretendedBrowser.rcode = "REFUSED"
    told, later = run(plan_with("known_names_first = true"), tmp_path, [("quick", PAGE), ("quick", PAGE)])
    (load,), (own,) = of_kind(told, PageLoadRecord), of_kind(told, LiveTrialRecord)
    assert load.failure is PageFailure.LEFT_ALONE
    assert "REFUSED for a.test." in load.failure_detail
    assert own.stop_sign == "refused"
    assert {one.rcode for one in of_kind(told, QueryRecord)} == {"REFUSED"}
    assert of_kind(later, PageLoadRecord)[0].failure is PageFailure.LEFT_ALONE
    assert (nobody_is_asked, PretendedBrowser.loaded, PretendedBrowser.pings_count) == ([["a.test"]], [], 0)


def test_a_resolver_that_refuses_after_the_load_is_not_pinged(tmp_path: Path) -> None:
    PretendedBrowser.rcode = "REFUSED"
    told, other = run(plan_with(), tmp_path, [("quick", PAGE), ("local", PAGE)])
    assert of_kind(told, PageLoadRecord)[0].failure is None
    assert of_kind(told, LiveTrialRecord)[0].stop_sign == "refused"
    assert PretendedBrowser.pings_count == 0
    assert of_kind(other, PageLoadRecord)[0].failure is None, "it is another resolver"


def test_the_list_of_those_who_opted_out_is_read_anew_for_each_block(tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("# nobody\n")
    plan = plan_with(f'opt_out = "{names}"')
    assert not run(plan, tmp_path, [("quick", PAGE)])[0].failed
    names.write_text("a.test\n")
    listed, other = run(plan, tmp_path, [("quick", PAGE), ("quick", "b_test")])
    assert of_kind(listed, PageLoadRecord)[0].failure is PageFailure.LEFT_ALONE
    assert not other.failed
    names.unlink()
    with pytest.raises(MachineError, match="could not read the opt-out list"):
        run(plan, tmp_path, [("quick", "b_test")])


@pytest.mark.parametrize("address", ["udp://dns.quick.test", "udp://198.18.8.1"])
def test_a_resolver_on_the_list_is_not_contacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nobody_is_asked: list[list[str]], address: str
) -> None:
    async def address_of(host: str) -> str:
        return "198.18.8.1" if host == "dns.quick.test" else host

    monkeypatch.setattr(resolver_addresses, "_address", address_of)
    names = tmp_path / "names.txt"
    names.write_text("198.18.8.1\n")
    text = TEXT.replace('doudp = "198.18.8.1"', f'doudp = "{address}"').format(network=f'opt_out = "{names}"')
    plan = parse_plan(text, "live.toml", Corpus.from_project())
    (listed,) = run(plan, tmp_path, [("quick", PAGE)])
    (load,) = of_kind(listed, PageLoadRecord)
    assert (load.failure, load.failure_detail) == (PageFailure.LEFT_ALONE, "198.18.8.1 is on the opt-out list")
    assert (nobody_is_asked, PretendedBrowser.loaded, PretendedBrowser.pings_count) == ([], [], 0)


def test_what_the_machine_cannot_do_is_refused_before_anybody_is_contacted(tmp_path: Path) -> None:
    place = PretendedPlace()
    place.refused = "port 53 is closed"
    with pytest.raises(MachineError, match=r"could not run .*\.local: port 53 is closed"):
        run(plan_with(), tmp_path, [], place)
    place = PretendedPlace()
    place.system_nameserver = None
    with pytest.raises(MachineError, match=r"could not reach resolver local over doudp: /etc/resolv\.conf has no name"):
        run(plan_with(), tmp_path, [], place)
