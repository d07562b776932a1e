"""Plans with a gateway: what cannot be, and that its own cost is measured beside every load through it."""

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import ConnectionSharing, PageSpeculation, ResolverPath
from resolab.plan import Corpus, Plan, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT

PLAN = """
name = "gateway"
question = "What does it cost?"
seed = 1
blocks = 2
[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doh3"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doh3 = ["native", "gateway"]
[baseline]
resolver_path = "native"
"""


def plan(text: str) -> Plan:
    return parse_plan(text, "plan.toml", Corpus.from_project())


def test_a_gateway_beside_the_native_way_is_a_plan() -> None:
    assert [one.resolver_path for one in plan(PLAN).conditions()] == [ResolverPath.NATIVE, ResolverPath.GATEWAY]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('["h3"]', '["h1"]'), "the gateway speaks h2 or h3"),
        (('["full"]', '["full"]\nconnection_sharing = ["separate", "browser_rule"]'), "the browser alone says"),
        (
            ('"h3"]', '"h3", "h2"]\nconnection_sharing = ["separate", "origin_frame"]'),
            "tell their origins over h3 only",
        ),
        (('["full"]', '["full"]\nspeculation = ["off", "document"]'), "only on the resolver's connection"),
        (('["full"]', '["full"]\ndns_connection_state = ["warm"]'), "closes all its connections"),
        (('["full"]', '["full"]\nh3_discovery = ["https_record"]'), "HTTP/3 is forced"),
        (('["full"]', '["full"]\nbrowser_preset = ["s24"]'), "went through no gateway"),
    ],
)
def test_what_cannot_be_is_refused(change: tuple[str, str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        plan(PLAN.replace(*change, 1))


def test_a_gateway_alone_is_refused() -> None:
    alone = PLAN.replace('["native", "gateway"]', '"gateway"').replace(
        'resolver_path = "native"', 'dns_transport = "doh3"'
    )
    with pytest.raises(ConfigurationError, match="nothing says what the gateway itself costs") as caught:
        plan(alone)
    assert '["native", "gateway"] (or "stub")' in str(caught.value)


def test_pages_go_on_connections_of_doh3_and_doq_alone() -> None:
    doq = PLAN.replace("doh3", "doq").replace('"native"', '"stub"')
    shared = '["full"]\nconnection_sharing = ["separate", "resolver_connection"]'
    excluded = 'connection_sharing = "separate"\n'
    excluded += '[[exclude]]\nresolver_path = ["stub"]\nconnection_sharing = ["resolver_connection"]\n'
    assert len(plan(doq.replace('["full"]', shared) + excluded).conditions()) == 3
    with pytest.raises(ConfigurationError, match="only connections of DoH3 and DoQ carry pages"):
        plan(doq.replace('["full"]', shared).replace("doq", "dot") + excluded)


def sharing(way: str, page: str = "bing-2024-07", certificates: str = "site") -> str:
    text = PLAN.replace('["full"]', f'["full"]\nconnection_sharing = ["separate", "{way}"]').replace("example", page)
    return text.replace("[resolver_path]", f'[pages]\ncertificates = "{certificates}"\n[resolver_path]')


@pytest.mark.parametrize(
    ("page", "certificates", "remedy"),
    [("bing-2024-07", "recorded", 'pages.certificates = "site"'), ("example", "site", "several names of one site")],
)
def test_sharing_by_certificates_that_no_two_names_have_in_common_is_refused(
    page: str, certificates: str, remedy: str
) -> None:
    with pytest.raises(ConfigurationError, match="nothing is shared by origin_frame") as caught:
        plan(sharing("origin_frame", page, certificates))
    assert remedy in str(caught.value)


def test_servers_may_tell_a_browser_its_origins_without_a_gateway() -> None:
    told = sharing("origin_frame")
    found = [(one.resolver_path, one.connection_sharing) for one in plan(told).conditions()]
    assert (ResolverPath.NATIVE, ConnectionSharing.ORIGIN_FRAME) in found
    assert len(found) == 4


def test_every_shared_load_needs_one_that_shares_nothing() -> None:
    shared = sharing("browser_rule")
    shared += """connection_sharing = "separate"
[[exclude]]
resolver_path = ["native"]
connection_sharing = ["browser_rule"]
"""
    assert len(plan(shared).conditions()) == 3
    without = '\n[[exclude]]\nresolver_path = ["gateway"]\nconnection_sharing = ["separate"]\n'
    with pytest.raises(ConfigurationError, match=r"would be compared|nothing says"):
        plan(shared + without)


def test_the_study_compares_the_gateway_with_itself_and_with_none() -> None:
    study = load_plan(PROJECT_ROOT / "plans" / "coalescing-quick.toml")
    for one in study.comparisons():
        treatment, baseline = one.treatment, one.baseline
        assert (treatment.requested_handshake_mode, treatment.page) == (
            baseline.requested_handshake_mode,
            baseline.page,
        )
        native = baseline.resolver_path is ResolverPath.NATIVE
        assert native == (treatment.connection_sharing is ConnectionSharing.SEPARATE)
        assert treatment.resolver_path is ResolverPath.GATEWAY
        assert baseline.speculation is PageSpeculation.OFF
