"""What a live plan would contact and how long that takes, before anybody is contacted."""

from resolab.campaign.live_expectation import estimate_live_run
from resolab.plan import Plan, parse_plan
from resolab.plan.corpus import Corpus
from resolab.plan.manners import ContactReason

TEXT = """
name = "live"
question = "q?"
seed = 7
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://study.resolab.test/"
opt_out = "https://list.test/names.txt"
[network.caps]
{caps}
[sites]
urls = [{urls}]
[resolvers.local]
doudp = "system"
[resolvers.quick]
doudp = "198.18.8.1"
doh = "https://dns.quick.test"
[factors]
resolver = ["local", "quick"]
dns_transport = ["doudp", "doh"]
[baseline]
resolver = "local"
dns_transport = "doudp"
"""


def plan_of(sites: int, caps: str = "") -> Plan:
    urls = ", ".join(f'"https://site{number}.test/"' for number in range(sites))
    return parse_plan(TEXT.format(urls=urls, caps=caps), "live.toml", Corpus.from_project())


def test_everybody_is_named_with_the_way_to_them() -> None:
    found = estimate_live_run(plan_of(2), "198.18.0.53")
    assert found.trials_count == 6
    named = {(one.reason, one.host, one.port) for one in found.contacts}
    assert named == {
        (ContactReason.OPT_OUT, "list.test", 443),
        (ContactReason.PAGE, "site0.test", 443),
        (ContactReason.PAGE, "site1.test", 443),
        (ContactReason.RESOLVER, "198.18.0.53", 53),
        (ContactReason.RESOLVER, "198.18.8.1", 53),
        (ContactReason.RESOLVER, "dns.quick.test", 443),
        (ContactReason.BOOTSTRAP, "198.18.0.53", 53),
        *((ContactReason.PING, host, None) for host in ("198.18.0.53", "198.18.8.1", "dns.quick.test")),
    }
    pages = [one for one in found.contacts if one.reason is ContactReason.PAGE]
    assert {one.times_at_most for one in pages} == {3}
    lists = [one for one in found.contacts if one.reason is ContactReason.OPT_OUT]
    assert [one.times_at_most for one in lists] == [2], "before each block"


def test_caps_make_a_run_longer() -> None:
    free, capped = estimate_live_run(plan_of(20), None), estimate_live_run(plan_of(20, "loads_per_hour = 20"), None)
    assert free.expected_s < 1200
    assert 2 * 3600 <= capped.expected_s < 3 * 3600, "sixty loads, twenty in the first hour at once"
    assert capped.loads_an_hour <= 30
