"""What an agent's operator allows, and what a plan beyond it is told."""

from datetime import datetime
from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.extras.fleet.agent.limits import AgentLimits, read_limits, refusal
from resolab.plan import Plan, parse_plan
from resolab.plan.manners import HARD_CAPS

NOON = datetime(2026, 11, 25, 12, 0)
LIVE = """
name = "seen"
question = "Is it reached?"
seed = 1
blocks = 2
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://operator.test/why"
[sites]
urls = ["https://www.example.net/"]
[resolvers.near]
doudp = "192.0.2.1"
[factors]
dns_transport = ["doudp"]
resolver = ["near"]
browser = ["firefox"]
[baseline]
dns_transport = "doudp"
"""


def live_plan(more: str = "") -> Plan:
    return parse_plan(LIVE.replace("[resolvers.near]", f"{more}\n[resolvers.near]"), "plan", None)


def limits(tmp_path: Path, text: str) -> AgentLimits:
    file = tmp_path / "limits.toml"
    file.write_text(text)
    return read_limits(file)


def test_without_a_file_nothing_leaves_the_machine():
    found = refusal(read_limits(None), live_plan(), NOON)
    assert found is not None
    assert found.why == "this agent's limits allow lab plans, and seen is live"
    assert found.again_in_s is None


def test_what_is_allowed_is_not_refused(tmp_path):
    allowed = limits(
        tmp_path, 'kinds = ["live"]\nsites = ["example.net"]\noperator_url = "https://operator.test/why"\n'
    )
    assert refusal(allowed, live_plan(), NOON) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('sites = ["example.org"]', "loads www.example.net, which this agent's limits do not allow"),
        ('sites = ["ww.example.net"]', "loads www.example.net, which"),
        ('operator_url = "https://me.example"', "names https://operator.test/why as its operator"),
        ("trials_per_block = 0", None),
        ("[caps]\nloads_per_hour = 7", "may reach loads_per_hour = 1200, this agent's limits allow 7"),
    ],
)
def test_what_goes_beyond_is_told_in_a_line(tmp_path, text, says):
    if says is None:
        with pytest.raises(ConfigurationError, match="trials_per_block"):
            limits(tmp_path, text)
        return
    found = refusal(limits(tmp_path, f'kinds = ["live"]\n{text}\n'), live_plan(), NOON)
    assert found is not None
    assert says in found.why
    assert "\n" not in found.why


def plan_of(*, resolver: str = 'doudp = "192.0.2.1"', url: str = "https://www.example.net/", network: str = "") -> Plan:
    transport = resolver.partition(" ")[0]
    text = LIVE.replace('doudp = "192.0.2.1"', resolver).replace("https://www.example.net/", url)
    text = text.replace('["doudp"]', f'["{transport}"]').replace(
        'dns_transport = "doudp"', f'dns_transport = "{transport}"'
    )
    text = text.replace('kind = "live"', f'kind = "live"\n{network}')
    return parse_plan(text + f'[resolver_path]\n{transport} = "stub"\n', "plan", None)


PRIVATE = [
    "192.168.1.1", "10.0.0.1", "172.16.5.4", "127.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.251", "255.255.255.255",
    "[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:192.168.1.1]", "[64:ff9b::c0a8:101]", "[2002:c0a8:101::1]", "[ff02::fb]",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
@pytest.mark.parametrize("scheme", ["udp", "tls", "https"])
def test_a_job_asks_no_resolver_of_the_agents_own_network(tmp_path, host, scheme):
    transport = {"udp": "doudp", "tls": "dot", "https": "doh"}[scheme]
    plan = plan_of(resolver=f'{transport} = "{scheme}://{host}"')
    found = refusal(limits(tmp_path, 'kinds = ["live"]\n'), plan, NOON)
    assert found is not None
    assert "seen asks " in found.why
    assert refusal(limits(tmp_path, f'kinds = ["live"]\nresolvers = ["{host}"]\n'), plan, NOON) is None


@pytest.mark.parametrize(
    "host", [*PRIVATE, "0x7f.1", "2130706433", "0300.0250.1.1", "192.168.257", "192\u3002168\u30021\u30021", "fritz.local", "nas.lan", "x.home.arpa", "printer.internal"]
)  # fmt: skip
def test_a_job_loads_no_page_of_the_agents_own_network(tmp_path, host):
    for url in (f"http://{host}/reboot", f"https://{host}/"):
        found = refusal(limits(tmp_path, 'kinds = ["live"]\n'), plan_of(url=url), NOON)
        assert found is not None
        assert "seen loads " in found.why
        assert refusal(limits(tmp_path, f'kinds = ["live"]\nsites = ["{host}"]\n'), plan_of(url=url), NOON) is None


@pytest.mark.parametrize(
    ("resolver", "allowed"),
    [
        ('doh = "https://dns.quad9.net/dns-query"', True),
        ('doh = "https://dns.quad9.net/dns-query{?dns}"', True),
        ('doh = "https://dns.quad9.net"', True),
        ('doh = "https://dns.quad9.net/cgi-bin/luci"', False),
        ('doh = "https://dns.quad9.net:8443/dns-query"', False),
        ('dot = "tls://dns.quad9.net"', True),
        ('dot = "tls://dns.quad9.net:22"', False),
        ('doq = "quic://dns.quad9.net:853"', True),
        ('doudp = "9.9.9.9:5353"', False),
        ('doudp = "system"', True),
        ('doudp = "198.18.2.1"', True),
        ('dot = "tls://router"', False),
    ],
)
def test_a_job_asks_resolvers_where_they_answer(tmp_path, resolver, allowed):
    plan = plan_of(resolver=resolver)
    assert (refusal(limits(tmp_path, 'kinds = ["live"]\n'), plan, NOON) is None) is allowed
    word = resolver.partition('"')[2].strip('"')
    assert refusal(limits(tmp_path, f'kinds = ["live"]\nresolvers = ["{word}"]\n'), plan, NOON) is None
    assert refusal(limits(tmp_path, 'kinds = ["live"]\nresolvers = ["dns.other.net"]\n'), plan, NOON) is not None


@pytest.mark.parametrize(
    ("url", "sites", "allowed"),
    [
        ("https://www.example.net/", None, True),
        ("https://www.example.net:8443/", None, False),
        ("http://www.example.net/", '["example.net"]', True),
        ("https://www.example.net:8443/", '["example.net"]', False),
        ("https://www.example.net:8443/", '["example.net:8443"]', True),
        ("https://www.example.net/", '["example.net:8443"]', False),
        ("https://192.168.1.1/", '["168.1.1", "1.1"]', False),
        ("https://[2001:db8::1]/", '["[2001:db8:0::1]"]', True),
    ],
)
def test_a_job_loads_sites_at_the_ports_that_are_theirs(tmp_path, url, sites, allowed):
    text = 'kinds = ["live"]\n' + ("" if sites is None else f"sites = {sites}\n")
    assert (refusal(limits(tmp_path, text), plan_of(url=url), NOON) is None) is allowed


@pytest.mark.parametrize(
    ("url", "named", "allowed"),
    [
        ("https://lists.example.net/out.txt", None, True),
        ("https://192.168.1.1/reboot", None, False),
        ("https://lists.example.net:8443/out.txt", None, False),
        ("https://router/reboot", None, False),
        ("https://192.168.1.1/out.txt", "https://192.168.1.1/out.txt", True),
        ("https://192.168.1.1/reboot", "https://192.168.1.1/out.txt", False),
    ],
)
def test_a_job_fetches_no_list_of_the_agents_own_network(tmp_path, url, named, allowed):
    text = 'kinds = ["live"]\n' + ("" if named is None else f'opt_out = ["{named}"]\n')
    assert (refusal(limits(tmp_path, text), plan_of(network=f'opt_out = "{url}"'), NOON) is None) is allowed


def test_a_plan_that_lowers_its_cap_fits_again(tmp_path):
    allowed = limits(tmp_path, 'kinds = ["live"]\n[caps]\nloads_per_hour = 7\n')
    assert refusal(allowed, live_plan("[network.caps]\nloads_per_hour = 7"), NOON) is None


def test_a_block_has_to_fit(tmp_path):
    plan = live_plan()
    assert refusal(limits(tmp_path, 'kinds = ["live"]\ntrials_per_block = 1\n'), plan, NOON) is None
    two = parse_plan(LIVE.replace('["firefox"]', '["firefox", "chromium"]'), "plan", None)
    found = refusal(limits(tmp_path, 'kinds = ["live"]\ntrials_per_block = 1\n'), two, NOON)
    assert found is not None
    assert "has 2 trials" in found.why


@pytest.mark.parametrize(
    ("hours", "at", "wait_s"),
    [
        ("11:00-13:00", NOON, None),
        ("12:00-12:01", NOON, None),
        ("11:00-12:00", NOON, 23 * 3600.0),
        ("22:00-06:00", NOON, 10 * 3600.0),
        ("22:00-06:00", NOON.replace(hour=23), None),
        ("22:00-06:00", NOON.replace(hour=5), None),
        ("22:00-06:00", NOON.replace(hour=6), 16 * 3600.0),
    ],
)
def test_hours_may_go_over_midnight(tmp_path, hours, at, wait_s):
    found = refusal(limits(tmp_path, f'kinds = ["live"]\nhours = ["{hours}"]\n'), live_plan(), at)
    assert (found and found.again_in_s) == wait_s


@pytest.mark.parametrize(
    "text",
    [
        "hours = '9-17'",
        "hours = ['9-17']",
        "kinds = ['world']",
        "kinds = []",
        "speed = 3",
        "caps = 3",
        "operator_url = 1",
        "resolvers = 'system'",
        "resolvers = ['smtp://x']",
        "sites = ['example.net:port']",
        "opt_out = true",
    ],
)
def test_a_wrong_file_is_said(tmp_path, text):
    with pytest.raises(ConfigurationError):
        limits(tmp_path, text)


def test_nobody_allows_more_than_the_manners(tmp_path):
    with pytest.raises(ConfigurationError, match="above"):
        limits(tmp_path, f"[caps]\nloads_per_hour = {HARD_CAPS.loads_per_hour + 1}")
