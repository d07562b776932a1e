"""The system's resolver, and how records name resolvers."""

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.extras.queries import format_recorded_name, system_resolver


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("# nameserver 9.9.9.9\noptions rotate\nnameserver 192.0.2.53 \nnameserver 192.0.2.54\n", "udp://192.0.2.53"),
        ("search x\nnameserver 2001:db8::53\n", "udp://[2001:db8::53]"),
        ("nameserver nonsense\nnameserver fe80::1%eth0\nnameserver 192.0.2.1", "udp://[fe80::1%eth0]"),
    ],
)
def test_the_first_nameserver_that_can_be_asked(tmp_path, text, url):
    file = tmp_path / "resolv.conf"
    file.write_text(text)
    assert system_resolver(file) == url


def test_without_one_the_user_is_told_what_to_do(tmp_path):
    with pytest.raises(ConfigurationError, match="-r"):
        system_resolver(tmp_path / "none")
    (tmp_path / "resolv.conf").write_text("options rotate\n")
    with pytest.raises(ConfigurationError, match="-r"):
        system_resolver(tmp_path / "resolv.conf")


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ("9.9.9.9", "udp://9.9.9.9:53"),
        ("127.0.0.1:5300", "udp://127.0.0.1:5300"),
        ("::1", "udp://[::1]:53"),
        ("[::1]:5300", "udp://[::1]:5300"),
        ("fe80::1%eth0", "udp://[fe80::1%eth0]:53"),
        ("[fe80::1%2]:5300", "udp://[fe80::1%2]:5300"),
        ("udp://9.9.9.9", "udp://9.9.9.9"),
        ("quic://[::1]:853", "quic://[::1]:853"),
        ("dns.example:53", "dns.example:53"),
    ],
)
def test_bare_addresses_are_recorded_as_urls(given, recorded):
    assert format_recorded_name(given) == recorded
