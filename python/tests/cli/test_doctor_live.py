"""What `doctor` says of live page loads."""

import msgspec
import pytest

from resolab.cli import doctor
from resolab.trials.live.network_access import MachineFacts, PortState

FACTS = MachineFacts(
    is_root=False, core="/opt/resolab-core", own_view=True, port_53=PortState.CLOSED, stub_address="127.64.1.2",
    slirp4netns=True, tun=True, ipv6=False, echo=False,
)  # fmt: skip


def said(monkeypatch, capsys, facts):
    monkeypatch.setattr(doctor, "read_facts", lambda: facts)
    monkeypatch.setattr(doctor, "CHECKS", {doctor.LIVE: doctor.CHECKS[doctor.LIVE]})
    code = doctor.run()
    return code, capsys.readouterr().out


def test_the_way_and_what_would_be_better(monkeypatch, capsys):
    code, text = said(monkeypatch, capsys, FACTS)
    assert (code, text.split()[0]) == (0, "ok")
    assert "slirp4netns" in text
    assert "sudo setcap cap_net_bind_service+ep /opt/resolab-core" in text
    assert "ping_group_range" in text


@pytest.mark.parametrize("echo", [False, True])
def test_the_best_way_lacks_nothing(monkeypatch, capsys, echo):
    facts = msgspec.structs.replace(FACTS, port_53=PortState.FREE, echo=echo)
    code, text = said(monkeypatch, capsys, facts)
    assert code == 0
    assert "setcap" not in text
    assert ("ping_group_range" in text) is not echo


def test_without_a_stub_it_is_absent_and_the_command_is_named(monkeypatch, capsys):
    code, text = said(monkeypatch, capsys, msgspec.structs.replace(FACTS, tun=False))
    assert (code, text.split()[0]) == (0, "absent")
    assert text.count("\n") == 1
    assert "sudo setcap" in text
