"""The edge's configuration says what the plan's pages need, and stays valid TOML whatever the folders are called."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from resolab.basics.records import DnsTransport, KeyExchangeGroup
from resolab.lab import layout
from resolab.lab.layout import Http3Offer, PageOrigin, PageSite
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus, EdgeSettings, PageCertificates
from resolab.plan.pages.page_file import ADDRESSES_LIMIT
from resolab.plan.pages.serving import Serving

CORPUS = Corpus.from_project()


def test_every_page_gets_an_address_of_its_own_and_no_tickets_until_asked():
    sites = assign_sites(CORPUS, ("wikipedia", "example"))
    written = tomllib.loads(layout.edge_configuration(Path('/tmp/a "quoted" folder'), list(sites.values())))
    assert written["ca"]["folder"] == '/tmp/a "quoted" folder'
    assert [site["address"] for site in written["site"]] == ["10.77.1.1", "10.77.1.2"]
    assert {site["ticket_policy"] for site in written["site"]} == {written["resolver"]["ticket_policy"]} == {"none"}


def test_the_edge_takes_the_groups_asked_for_and_clients_offer_theirs():
    groups = (KeyExchangeGroup.SECP384R1, KeyExchangeGroup.X25519)
    written = tomllib.loads(layout.edge_configuration(Path("/ca"), [], groups))
    assert written["tls"] == {"groups": ["secp384r1", "x25519"]}
    told = layout.resolver(DnsTransport.DOT, Path("/ca.pem"), groups).arguments()
    assert told[-2:] == ["--groups", "secp384r1,x25519"]


def test_the_edge_sends_as_much_at_first_as_the_plan_says():
    written = tomllib.loads(layout.edge_configuration(Path("/ca"), []))
    assert written["limits"] == {"quic_initial_window_bytes": 12_000}
    told = EdgeSettings(quic_initial_window_bytes=40_000)
    written = tomllib.loads(layout.edge_configuration(Path("/ca"), [], settings=told))
    assert written["limits"] == {"quic_initial_window_bytes": 40_000}


def test_every_name_of_a_page_has_an_address_and_files_of_its_own():
    site = assign_sites(CORPUS, ("example", "names-4"))["names-4"]
    assert site.hosts[:2] == ("names-4.resolab.test", "n01.names-4.resolab.test")
    written = tomllib.loads(layout.edge_configuration(Path("/ca"), [site]))["site"]
    assert [one["address"] for one in written] == [f"10.77.1.{number}" for number in (2, 3, 4, 5)]
    assert len({one["folder"] for one in written}) == 4
    assert site.request_count == 14


@pytest.mark.parametrize(
    ("offer", "keys"),
    [
        (Http3Offer.NOTHING, {}),
        (Http3Offer.HTTPS_RECORD, {"https_record": True}),
        (Http3Offer.ALT_SVC, {"alt_svc": True, "cache_control": "no-store"}),
    ],
)
def test_a_site_shows_one_sign_of_http_3_at_most(offer, keys):
    assert layout.site_settings(offer) == {"compression": []} | keys


def test_a_page_can_withhold_a_sign_from_a_name_and_give_none_by_itself():
    for page in ({"https_record": False, "alt_svc": False}, {"https_record": ["h2"], "alt_svc": True}):
        assert layout.site_settings(Http3Offer.NOTHING, page) == {"compression": []}
        assert layout.site_settings(Http3Offer.HTTPS_RECORD, page)["https_record"] == page["https_record"]
        assert layout.site_settings(Http3Offer.ALT_SVC, page)["alt_svc"] == page["alt_svc"]


def test_a_name_that_does_not_speak_http_3_shows_no_sign_of_it():
    page = {"protocols": ["h1", "h2"], "alt_svc": True}
    assert layout.site_settings(Http3Offer.HTTPS_RECORD, page)["https_record"] is False
    assert layout.site_settings(Http3Offer.ALT_SVC, page)["alt_svc"] is False
    assert layout.site_settings(Http3Offer.HTTPS_RECORD, {"protocols": ["h2", "h3"]})["https_record"] is True


def test_addresses_do_not_run_out_and_those_of_the_first_names_are_as_they_were():
    addresses = [layout.site_address(number) for number in range(ADDRESSES_LIMIT)]
    assert addresses[:253] == [f"10.77.1.{number}" for number in range(1, 254)]
    assert addresses[253:255] == ["10.77.2.1", "10.77.2.2"]
    assert addresses[-1] == "10.77.255.254"
    assert len(set(addresses)) == ADDRESSES_LIMIT == 64_769
    ends = {int(address.rpartition(".")[2]) for address in addresses}
    assert (min(ends), max(ends)) == (1, 254)
    assert layout.DOH_PROBE_ADDRESS not in addresses


def origin(host, number, **serving):
    return PageOrigin(host=host, address=f"10.77.1.{number}", folder=None, serving=Serving(**serving))


def test_the_edge_is_told_what_a_page_says_of_its_names():
    settings = {
        "precoded": True,
        "methods": ["GET", "POST"],
        "server_time_ms": {"distribution": "lognormal", "median_ms": 20, "sigma": 0.5},
        "response": [
            {"path": "/0.html", "status": 302, "location": "https://h1.s1-a.test/1.html"},
            {"path": '/a "b"\n', "outcome": "hang", "fields": {"x-pad": "ä\x7f"}},
        ],
    }
    site = PageSite(
        page="a",
        origins=(
            origin("h0.s0-a.test", 1, settings=settings, certificate=0),
            origin("h1.s1-a.test", 1, certificate=0, settings={"compression": ["gzip"]}),
            origin("b.test", 2, certificate=1),
            origin("c.resolab.test", 3),
        ),
        path="/0.html",
    )
    text = layout.edge_configuration(Path("/ca"), [site])
    written = tomllib.loads(text)
    first, second, *_ = written["site"]
    del settings["precoded"]  # It has no files.
    assert first == {
        "host": "h0.s0-a.test", "address": "10.77.1.1", "ticket_policy": "none", "compression": []
    } | settings  # fmt: skip
    with_files = msgspec.structs.replace(
        site.origins[0], folder=Path("/a"), serving=Serving(settings={"precoded": True})
    )
    site = msgspec.structs.replace(site, origins=(with_files,))
    assert tomllib.loads(layout.edge_configuration(Path("/ca"), [site]))["site"][0]["precoded"] is True
    assert second["compression"] == ["gzip"]
    # Names alone on a certificate have one of their own anyway.
    assert written["certificate"] == [{"names": ["h0.s0-a.test", "h1.s1-a.test"]}]
    assert written["resolver"]["origins"] == ["resolab.test", "s0-a.test", "s1-a.test", "b.test"]


def test_pages_that_come_when_needed_have_their_domains_and_certificates_from_the_start(monkeypatch):
    monkeypatch.setattr(layout, "RESIDENT_NAMES_LIMIT", 1)
    site = PageSite(
        page="a", origins=(origin("a.b.test", 1, certificate=1), origin("c.d.test", 2, certificate=1)), path="/"
    )
    written = tomllib.loads(layout.edge_configuration(Path("/ca"), [site]))
    assert "site" not in written
    assert written["resolver"]["origins"] == ["resolab.test", "b.test", "d.test"]
    assert written["certificate"] == [{"names": ["a.b.test", "c.d.test"]}]


def test_names_share_an_address_where_their_page_says_so(tmp_path):
    for page in ("one", "two"):
        folder = tmp_path / page
        hosts = [f"h{number}.s-{page}.test" for number in range(5)]
        for host in hosts:
            (folder / host).mkdir(parents=True)
        (folder / hosts[0] / "index.html").touch()
        (folder / "none.toml").write_text('response = [{ path = "/1.gif", status = 204 }]\n')
        lines = [f'host = "{hosts[0]}"', f'folder = "{hosts[0]}"', 'path = "/"', "request_count = 1", "[hosts]"]
        lines += [f'"{host}" = "{host}"' for host in hosts[1:]]
        groups = ("address_group = 7", "", "address_group = 7", "address_group = 2")
        for host, group in zip(hosts[1:], groups, strict=True):
            lines += [f'[serving."{host}"]', 'settings = "none.toml"', group]
        (folder / "page.toml").write_text("\n".join(lines))
    corpus = Corpus.from_project({page: tmp_path / page for page in ("one", "two")})
    sites = assign_sites(corpus, ("one", "two"))
    last = {page: [int(one.address.rpartition(".")[2]) for one in site.origins] for page, site in sites.items()}
    assert last == {"one": [1, 2, 3, 2, 4], "two": [5, 6, 7, 6, 8]}
    assert [one.folder is None for one in sites["one"].origins] == [False, True, True, True, True]


@pytest.mark.parametrize("tells", [False, True])
def test_names_of_one_site_share_a_certificate_where_the_plan_says_so(tells):
    hosts = ("h0.s0-a.test", "h1.s0-a.test", "h2.s1-a.test", "x.y.s2-a.test", "z.s2-a.test", "a.resolab.test")
    site = PageSite(page="a", origins=tuple(origin(host, 1, certificate=0) for host in hosts), path="/")
    text = layout.edge_configuration(Path("/ca"), [site], certificates=PageCertificates.SITE, tells_origins=tells)
    more = {"origin_frame": True} if tells else {}
    assert tomllib.loads(text)["certificate"] == [
        {"names": ["*.s0-a.test"]} | more,
        # A wildcard covers one label.
        {"names": ["x.y.s2-a.test", "z.s2-a.test"]} | more,
    ]
    assert layout.resolver_covers(site) == [
        "*.s0-a.test", "*.s1-a.test", "x.y.s2-a.test", "z.s2-a.test", "a.resolab.test"
    ]  # fmt: skip
