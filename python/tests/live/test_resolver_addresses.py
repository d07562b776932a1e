"""Resolvers as they are reached: addresses found once, the machine's own put in."""

import asyncio
import socket
from typing import Any

import pytest

from resolab.basics.records import DnsTransport
from resolab.plan.live import Endpoint, LiveResolver
from resolab.trials.live.resolver_addresses import reach

RESOLVERS = {
    "local": LiveResolver("local", {DnsTransport.DOUDP: Endpoint("system", "", 53)}),
    "quick": LiveResolver(
        "quick",
        {
            DnsTransport.DOUDP: Endpoint("udp://198.18.8.1:53", "198.18.8.1", 53),
            DnsTransport.DOT: Endpoint("tls://dns.quick.test", "dns.quick.test", 853),
            DnsTransport.DOH: Endpoint("https://dns.quick.test/q", "dns.quick.test", 443, "/q"),
        },
    ),
}


def test_every_name_is_looked_up_once_and_clients_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def found(_loop: Any, host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        six, four = ("2001:db8::1", 0, 0, 0), ("198.18.8.2", 0)
        return [(socket.AF_INET6, 0, 0, "", six), (socket.AF_INET, 0, 0, "", four)]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", found)
    every = asyncio.run(reach(RESOLVERS, "198.18.0.53"))
    assert asked == ["dns.quick.test"]
    dot = every["quick", DnsTransport.DOT]
    assert dot.arguments() == ["--resolve", "dns.quick.test=198.18.8.2"]
    assert every["quick", DnsTransport.DOUDP].arguments() == []
    own = every["local", DnsTransport.DOUDP]
    assert (own.url, own.host, own.address) == ("udp://198.18.0.53:53", "198.18.0.53", "198.18.0.53")


def test_who_is_not_found_has_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", nobody)
    every = asyncio.run(reach(RESOLVERS, None))
    assert every["quick", DnsTransport.DOH].address is None
    assert every["local", DnsTransport.DOUDP].address is None
