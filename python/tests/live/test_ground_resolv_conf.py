"""Which resolver the machine asks, from its files."""

from resolab.trials.live.network_access import SystemResolver, read_system_resolver


def written(folder, name, text):
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def test_the_first_name_server_counts(tmp_path):
    text = "# made by hand\nsearch example\noptions rotate\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n"
    file = written(tmp_path, "resolv.conf", text)
    behind = written(tmp_path, "behind.conf", "nameserver 192.0.2.9\n")
    # Who stands behind is only asked of a forwarder on loopback.
    assert read_system_resolver(file, (behind,)) == SystemResolver(address="192.0.2.1")


def test_whom_systemd_resolved_hides_is_named(tmp_path):
    file = written(tmp_path, "resolv.conf", "nameserver 127.0.0.53\noptions edns0 trust-ad\n")
    behind = written(tmp_path, "behind.conf", "nameserver 192.0.2.9\nnameserver 2001:db8::9\n")
    found = read_system_resolver(file, (tmp_path / "absent", behind))
    assert found == SystemResolver(address="127.0.0.53", forwards_to=("192.0.2.9", "2001:db8::9"))
    assert read_system_resolver(file, ()) == SystemResolver(address="127.0.0.53")


def test_what_no_plan_can_name_is_passed_by(tmp_path):
    text = "nameserver fe80::1%eth0\nnameserver\nnameserver dns.example\nnameserver 2001:db8::1\n"
    assert read_system_resolver(written(tmp_path, "resolv.conf", text), ()).address == "2001:db8::1"
    assert read_system_resolver(written(tmp_path, "empty.conf", ""), ()).address is None
    assert read_system_resolver(tmp_path / "absent", ()).address is None
