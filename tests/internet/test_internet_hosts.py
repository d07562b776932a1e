"""An internet commanded from Python: hosts changed, packets counted, nothing left."""

import asyncio
import subprocess

import pytest

from resolab.basics.errors import ConfigurationError, MachineError, ResolabError
from resolab.lab.engine.internet import Internet
from resolab.lab.engine.programs import enter_prefix

HOSTS = """
[[host]]
name = "home"
one_way_ms = 1
[[host.network]]
prefix = "198.18.0.2/32"
[[host]]
name = "far-away-resolver"
[[host.network]]
prefix = "198.18.8.0/24"
extra_one_way_ms = 2.5
"""
SEND = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for address in ("198.18.8.53", "198.18.8.53", "198.18.77.1"):
    sender.sendto(b"x" * 72, (address, 53))
"""

pytestmark = [pytest.mark.privileged, pytest.mark.usefixtures("lab_is_clean")]


async def _standing(file, on_record=lambda _record: None):
    try:
        return await Internet.start(file, on_record=on_record)
    except MachineError as error:
        pytest.skip(f"this machine permits no internet: {error}")


async def send_from_home(internet):
    command = [*enter_prefix(internet.ready.pid, "home"), "python3", "-c", SEND]
    subprocess.run(command, check=True, timeout=20)
    await asyncio.sleep(0.05)  # Far longer than the way there and back.


def test_hosts_are_changed_and_what_they_send_is_counted(tmp_path):
    file = tmp_path / "internet.toml"
    file.write_text(HOSTS)
    records = []

    async def measure():
        internet = await _standing(file, records.append)
        try:
            await send_from_home(internet)
            first = await internet.count("first")
            await internet.set_host("far-away-resolver", down=True)
            with pytest.raises(ResolabError, match="there are home, far-away-resolver"):
                await internet.set_host("nobody", one_way_ms=3)
            await send_from_home(internet)
            return internet.ready, first, await internet.count()
        finally:
            await internet.close()

    ready, first, second = asyncio.run(measure())
    assert [(host.name, host.address, host.networks[0].prefix) for host in ready.hosts] == [
        ("home", "198.18.0.2", "198.18.0.2/32"),
        ("far-away-resolver", "198.18.8.1", "198.18.8.0/24"),
    ]
    sent = [(flow.destination_address, flow.destination_host, flow.packets_count) for flow in first.flows]
    assert ("198.18.8.53", "far-away-resolver", 2) in sent
    assert ("198.18.77.1", None, 1) in sent
    assert (first.label, first.unowned_packets_count, first.dropped_down_count) == ("first", 1, 0)
    assert next(flow.total_bytes for flow in first.flows if flow.destination_host is None) == 100
    assert (second.label, second.dropped_down_count, second.delivered_packets_count) == (None, 2, 0)
    assert second.window_start_ns == first.window_end_ns
    assert [record for record in records if record in (first, second)] == [first, second]


def test_a_wrong_configuration_is_said_in_one_line(tmp_path):
    file = tmp_path / "internet.toml"
    file.write_text(HOSTS.replace("198.18.8.0/24", "198.18.0.0/24"))
    with pytest.raises(ConfigurationError, match="must have no address that"):
        asyncio.run(Internet.start(file))
