"""Which way is taken, and what one command helps: pure, by facts."""

import msgspec
import pytest

from resolab.basics.records import LiveWay, RelayReadyRecord
from resolab.trials.live.network_access import MachineFacts, PortState, SystemResolver, choose_access
from resolab.trials.live.network_access.access import NetworkAccess, build_access
from resolab.trials.live.network_access.facts import list_stub_addresses

BEST = MachineFacts(
    is_root=False, core="/opt/resolab-core", own_view=True, port_53=PortState.FREE, stub_address="127.64.1.2",
    slirp4netns=True, tun=True, ipv6=False, echo=False,
)  # fmt: skip
NOBODY_SAYS = SystemResolver(address="192.0.2.53")


def but(**changes):
    return msgspec.structs.replace(BEST, **changes)


@pytest.mark.parametrize(
    ("facts", "way", "command"),
    [
        (but(is_root=True), LiveWay.ROOT, None),
        (BEST, LiveWay.USER_CAPABILITY, None),
        (but(slirp4netns=False, tun=False), LiveWay.USER_CAPABILITY, None),
        (but(port_53=PortState.CLOSED), LiveWay.SLIRP4NETNS, "sudo setcap cap_net_bind_service+ep /opt/resolab-core"),
        (but(port_53=PortState.CLOSED, tun=False), LiveWay.DNS_ONLY, "sudo setcap cap_net_bind_service+ep /opt/resolab-core"),
        (but(port_53=PortState.CLOSED, slirp4netns=False), LiveWay.DNS_ONLY, "sudo setcap cap_net_bind_service+ep /opt/resolab-core"),
        (
            but(port_53=PortState.CLOSED, tun=False, capabilities_void=True),
            LiveWay.DNS_ONLY,
            "sudo sysctl -w net.ipv4.ip_unprivileged_port_start=53",
        ),
        (but(port_53=PortState.TAKEN), LiveWay.SLIRP4NETNS, "sudo ss -lnup"),
        (but(is_root=True, port_53=PortState.TAKEN, slirp4netns=False), LiveWay.DNS_ONLY, "sudo ss -lnup"),
        (
            but(own_view=False, namespace_setting="kernel.apparmor_restrict_unprivileged_userns=0"),
            LiveWay.DNS_ONLY,
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (but(own_view=False, own_view_refusal="failed to X"), LiveWay.DNS_ONLY, "sudo resolab"),
    ],
)  # fmt: skip
def test_the_best_way_is_taken_and_one_command_named(facts, way, command):
    choice = choose_access(facts)
    assert choice.way is way
    if command is None:
        assert choice.missing is None
    else:
        assert choice.missing is not None
        assert command in choice.missing
        assert choice.missing.count("sudo") == 1
        assert "\n" not in choice.missing
    assert choice.note


def test_two_processes_have_two_addresses_and_neither_is_systemd_resolveds():
    pids = [*range(1, 70_000, 61), 4_194_303]
    for pid in pids:
        for address in list_stub_addresses(pid):
            numbers = [int(number) for number in address.split(".")]
            assert numbers[0] == 127
            assert 64 <= numbers[1] < 128
            assert all(0 <= number <= 255 for number in numbers)
            assert address != "127.255.255.255"
    assert len({next(iter(list_stub_addresses(pid))) for pid in pids}) == len(pids)
    assert all(len(set(list_stub_addresses(pid))) == 3 for pid in pids)


def test_a_browser_is_given_its_resolver_on_the_machines_network(tmp_path):
    ground = build_access(BEST, NOBODY_SAYS)
    prefix = ground.browser_prefix("192.0.2.1", hosts_file=tmp_path / "hosts")
    assert prefix == [
        "/opt/resolab-core", "enter", "--here", "--nameserver", "192.0.2.1", "--hosts", str(tmp_path / "hosts"), "--",
    ]  # fmt: skip
    assert (ground.stub_prefix(), ground.stub_arguments()) == ([], [])
    assert ground.listen_address == ground.stub_address == "127.64.1.2"
    with pytest.raises(ValueError, match=r"dns\.example"):
        ground.browser_prefix("dns.example")


def test_behind_slirp4netns_the_browser_enters_and_the_stub_listens_there(monkeypatch):
    monkeypatch.setenv("RESOLAB_CORE", "/bin/true")
    facts = but(port_53=PortState.CLOSED)
    relay = RelayReadyRecord(pid=4711, host="relay", ipv6=False, mtu_bytes=1500)
    ground = NetworkAccess(facts, choose_access(facts), NOBODY_SAYS, relay)
    prefix = ground.browser_prefix("127.64.1.2")
    assert prefix == ["/bin/true", "enter", "--path", "4711", "--host", "relay", "--nameserver", "127.64.1.2", "--"]
    assert ground.stub_arguments() == ["--listen-in", "4711/relay"]
    with pytest.raises(AssertionError):
        build_access(facts, NOBODY_SAYS).browser_prefix("192.0.2.1")


def test_what_cannot_be_loaded_is_refused_in_one_sentence():
    exact = build_access(BEST, NOBODY_SAYS)
    assert exact.refusal(by_stub=True, speaks_doh=False) is None
    slirp = build_access(but(port_53=PortState.CLOSED), NOBODY_SAYS)
    assert slirp.refusal(by_stub=True, speaks_doh=False) is None
    assert slirp.refusal(by_stub=False, speaks_doh=False, nameserver="192.0.2.1") is None
    loopback = slirp.refusal(by_stub=False, speaks_doh=False, nameserver="127.0.0.53")
    assert loopback is not None
    assert "127.0.0.53" in loopback
    no_stub = build_access(but(port_53=PortState.CLOSED, tun=False), NOBODY_SAYS)
    assert no_stub.refusal(by_stub=False, speaks_doh=True) is None
    assert no_stub.refusal(by_stub=False, speaks_doh=False, nameserver="127.0.0.53") is None
    by_stub = no_stub.refusal(by_stub=True, speaks_doh=False)
    assert by_stub is not None
    assert "setcap" in by_stub
    nothing = build_access(but(own_view=False), NOBODY_SAYS)
    assert nothing.browser_prefix("192.0.2.1") == []
    assert nothing.refusal(by_stub=False, speaks_doh=True) is None
    assert "sudo" in (nothing.refusal(by_stub=False, speaks_doh=False) or "")
