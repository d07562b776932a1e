"""Who stands between a browser and the network, and what is closed before a load."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from resolab.basics.errors import DeadlineError
from resolab.basics.records import (
    AnswerPush,
    ConnectionSharing,
    ConnectionState,
    DnsTransport,
    GatewayTrigger,
    HandshakeMode,
    HttpVersion,
    PageSpeculation,
    QueryGathering,
    ResolverPath,
    TrialFlag,
)
from resolab.lab import engine, layout
from resolab.lab.client_program import ClientProgramSlot
from resolab.lab.engine import GatewaySettings
from resolab.plan import Condition

NATIVE = Condition(
    page="example", profile="fiber", dns_transport=DnsTransport.DOH3, http_version=HttpVersion.H3,
    requested_handshake_mode=HandshakeMode.FULL, resolver_path=ResolverPath.NATIVE,
)  # fmt: skip
STUB = replace(NATIVE, resolver_path=ResolverPath.STUB)
GATEWAY = replace(NATIVE, resolver_path=ResolverPath.GATEWAY)


class Pretended:
    """A program that says what it was told."""

    def __init__(self, told: list[str], name: str) -> None:
        self.told, self.name = told, name
        self.process = SimpleNamespace(running=True)

    async def close_connections(self, *, forget_tickets: bool) -> None:
        self.told.append(f"{self.name} closes, forgets {forget_tickets}")

    async def push_answers(self, names: Sequence[str]) -> None:
        self.told.append(f"{self.name} asks for {' '.join(names)} with the next query")

    async def close(self) -> None:
        self.told.append(f"{self.name} ends")


class PretendedGateway(Pretended, engine.Gateway):
    answers = True

    async def close(self) -> None:
        self.process.running = False
        await super().close()

    async def new_load(self, *, forget_tickets: bool, speculate_for: str | None = None) -> None:
        if not self.answers:
            raise DeadlineError("the gateway did not write the answer within 30 s")
        early = f", asks {speculate_for} early" if speculate_for else ""
        self.told.append(f"new load, forgets {forget_tickets}{early}")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []

    async def stub(_pid: int, listen: str, _resolver: Any, *, handshake: HandshakeMode, **more: Any) -> Pretended:
        gathers = "" if more["gather_ms"] is None else f", gathers for {more['gather_ms']} ms"
        said.append(f"stub at {listen}, {handshake}{gathers}")
        return Pretended(said, "stub")

    async def gateway(_pid: int, listen: str, resolver: Any, settings: GatewaySettings, **more: Any) -> Pretended:
        words = f"{more['handshake']}, {' '.join(settings.arguments())}, {more['ca_folder']}"
        said.append(f"gateway at {listen} for {resolver.url}, {words}")
        return PretendedGateway(said, "gateway")

    monkeypatch.setattr(engine.Stub, "start", stub)
    monkeypatch.setattr(engine.Gateway, "start", gateway)
    return said


def between() -> ClientProgramSlot:
    return ClientProgramSlot(1, Path("/lab/ca/ca.pem"), lambda _record: None)


def test_one_takes_the_others_place_and_one_of_the_same_kind_is_kept(told: list[str]) -> None:
    async def go() -> None:
        place = between()
        await place.put(NATIVE)
        assert place.program(NATIVE) is None
        await place.put(STUB)
        await place.put(GATEWAY)
        await place.put(GATEWAY)
        shared = replace(GATEWAY, connection_sharing=ConnectionSharing.RESOLVER_CONNECTION)
        await place.put(shared)
        await place.close()
        assert place.program(shared) is None

    asyncio.run(go())
    at, doh3 = f"{layout.STUB_ADDRESS}:53", f"h3://{layout.RESOLVER_NAME}/dns-query"
    said = "full, --page-handshake full --page-http h3"
    assert told == [
        f"stub at {at}, full",
        "stub ends",
        f"gateway at {at} for {doh3}, {said} --sharing separate --trigger mirror, /lab/ca",
        "new load, forgets True",
        "gateway ends",
        f"gateway at {at} for {doh3}, {said} --sharing resolver_connection --trigger mirror, /lab/ca",
        "gateway ends",
    ]


@pytest.mark.parametrize(
    ("dns", "page", "forgets"),
    [
        (HandshakeMode.FULL, HandshakeMode.FULL, True),
        (HandshakeMode.ZERO_RTT, HandshakeMode.FULL, False),
        (HandshakeMode.FULL, HandshakeMode.RESUMED, False),
    ],
)
def test_before_a_load_a_gateway_closes_all_and_keeps_the_tickets_asked_for(
    told: list[str], dns: HandshakeMode, page: HandshakeMode, forgets: bool
) -> None:
    condition = replace(GATEWAY, requested_dns_handshake_mode=dns, requested_handshake_mode=page)

    async def go() -> None:
        place = between()
        await place.put(condition)
        await place.close_after_warmup(condition, ["a.test", "b.test"])

    asyncio.run(go())
    assert told[-1] == f"new load, forgets {forgets}"


def test_a_stubs_connection_is_kept_where_the_look_up_shall_find_it(told: list[str]) -> None:
    async def go() -> None:
        place = between()
        await place.put(STUB)
        await place.close_after_warmup(replace(STUB, dns_connection_state=ConnectionState.WARM), ["a.test", "b.test"])
        assert len(told) == 1
        await place.close_after_warmup(STUB, ["a.test", "b.test"])
        await place.close_after_warmup(NATIVE, ["a.test", "b.test"])

    asyncio.run(go())
    assert told[1:] == ["stub closes, forgets True"]


@pytest.mark.parametrize("handshake", [HandshakeMode.RESUMED, HandshakeMode.ZERO_RTT])
def test_a_stub_whose_tickets_are_wanted_is_closed_all_the_same(told: list[str], handshake: HandshakeMode) -> None:
    # Closing alone makes it forget what it learnt of the resolver (docs/method/forgotten.md).
    condition = replace(STUB, requested_dns_handshake_mode=handshake, query_gathering=QueryGathering.ON)

    async def go() -> None:
        place = between()
        await place.put(condition)
        await place.close_after_warmup(condition, ["a.test", "b.test"])

    asyncio.run(go())
    assert told[1:] == ["stub closes, forgets False"]


@pytest.mark.parametrize(
    ("condition", "flag"), [(STUB, TrialFlag.STUB_ENDED), (GATEWAY, TrialFlag.GATEWAY_ENDED), (NATIVE, None)]
)
@pytest.mark.usefixtures("told")
def test_who_died_is_said(condition: Condition, flag: TrialFlag | None) -> None:
    async def go() -> None:
        place = between()
        await place.put(condition)
        assert place.flags(condition) == []
        program: Any = place.program(condition)
        if program is not None:
            program.process.running = False
        assert place.flags(condition) == ([flag] if flag else [])

    asyncio.run(go())


@pytest.mark.parametrize("when", ["before a load", "after the warm-up", "after the load"])
def test_a_gateway_that_does_not_answer_is_ended_and_the_next_load_has_another(told: list[str], when: str) -> None:
    async def go() -> None:
        place = between()
        await place.put(GATEWAY)
        program: Any = place.program(GATEWAY)
        program.answers = False
        if when != "before a load":
            command = (
                place.end_load(GATEWAY) if when == "after the load" else place.close_after_warmup(GATEWAY, ["a.test"])
            )
            with pytest.raises(DeadlineError):
                await command
            assert place.flags(GATEWAY) == [TrialFlag.GATEWAY_ENDED]
        await place.put(GATEWAY)
        assert place.flags(GATEWAY) == []
        assert place.program(GATEWAY) is not program

    asyncio.run(go())
    assert told[-1].startswith("gateway at")
    assert "gateway ends" in told


def test_a_gateway_writes_what_it_knows_when_a_load_has_ended(told: list[str]) -> None:
    async def go() -> None:
        place = between()
        for condition in (NATIVE, STUB, GATEWAY):
            await place.put(condition)
            await place.end_load(condition)

    asyncio.run(go())
    assert [one for one in told if "new load" in one] == ["new load, forgets False"]


def test_a_stub_that_gathers_is_another_one(told: list[str]) -> None:
    async def go() -> None:
        place = between()
        await place.put(STUB)
        await place.put(replace(STUB, query_gathering=QueryGathering.ON))

    asyncio.run(go())
    at = f"stub at {layout.STUB_ADDRESS}:53, full"
    assert told == [at, "stub ends", f"{at}, gathers for 5 ms"]


@pytest.mark.parametrize("state", ConnectionState)
def test_answers_are_pushed_in_the_measured_load_alone(told: list[str], state: ConnectionState) -> None:
    pushed = replace(STUB, answer_push=AnswerPush.PAGE_NAMES, dns_connection_state=state)

    async def go() -> None:
        place = between()
        await place.put(pushed)
        await place.close_after_warmup(pushed, ["a.test", "b.test"])
        await place.close_after_warmup(STUB, ["a.test", "b.test"])

    asyncio.run(go())
    assert [one for one in told if "asks for" in one] == ["stub asks for a.test b.test with the next query"]
    assert told[-1] == "stub closes, forgets True"


def test_the_document_is_asked_for_early_in_the_measured_load_alone(told: list[str]) -> None:
    early = replace(
        GATEWAY, connection_sharing=ConnectionSharing.RESOLVER_CONNECTION, speculation=PageSpeculation.DOCUMENT
    )

    async def go() -> None:
        place = between()
        await place.put(early)
        await place.put(early)
        await place.close_after_warmup(early, ["a.test", "b.test"])

    asyncio.run(go())
    assert told[1:] == ["new load, forgets True", "new load, forgets True, asks a.test early"]


@pytest.mark.parametrize(
    ("dns_transport", "shared", "port"),
    [(DnsTransport.DOQ, True, ":443"), (DnsTransport.DOQ, False, ""), (DnsTransport.DOH3, True, "/dns-query")],
)
def test_pages_go_beside_doq_where_http3_is(
    told: list[str], dns_transport: DnsTransport, *, shared: bool, port: str
) -> None:
    sharing = ConnectionSharing.RESOLVER_CONNECTION if shared else ConnectionSharing.SEPARATE
    asyncio.run(between().put(replace(GATEWAY, dns_transport=dns_transport, connection_sharing=sharing)))
    assert f"://{layout.RESOLVER_NAME}{port}, " in told[0]


def test_a_gateway_is_told_what_its_condition_asks(told: list[str]) -> None:
    condition = replace(GATEWAY, http_version=HttpVersion.H2, requested_handshake_mode=HandshakeMode.RESUMED)
    asyncio.run(between().put(condition))
    assert "--page-handshake resumed --page-http h2" in told[0]
    assert GatewaySettings.__struct_defaults__ == (GatewayTrigger.MIRROR,)
