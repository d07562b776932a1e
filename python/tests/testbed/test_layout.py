"""The edge's configuration says what the plan's pages need, and stays valid TOML whatever the folders are called."""

import tomllib
from pathlib import Path

import pytest

from resolab.errors import ConfigurationError
from resolab.plan import Corpus
from resolab.records import DnsTransport, KeyExchangeGroup
from resolab.testbed import layout
from resolab.testbed.layout import Offer
from resolab.testbed.sites import sites_of

CORPUS = Corpus.of_project()


def test_every_page_gets_an_address_of_its_own_and_no_tickets_until_asked():
    sites = sites_of(CORPUS, ("wikipedia", "example"))
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


def test_every_name_of_a_page_has_an_address_and_files_of_its_own():
    site = sites_of(CORPUS, ("example", "names-4"))["names-4"]
    assert site.hosts[:2] == ("names-4.resolab.test", "n01.names-4.resolab.test")
    written = tomllib.loads(layout.edge_configuration(Path("/ca"), [site]))["site"]
    assert [one["address"] for one in written] == [f"10.77.1.{number}" for number in (2, 3, 4, 5)]
    assert len({one["folder"] for one in written}) == 4
    assert site.request_count == 14


def test_more_names_than_addresses_and_names_of_two_pages_are_refused(tmp_path):
    def page(name, host, others=0):
        (tmp_path / "pages" / name / "site").mkdir(parents=True)
        hosts = "".join(f'"n{number}.{name}.resolab.test"="site"\n' for number in range(others))
        (tmp_path / "pages" / name / "page.toml").write_text(
            f'description="d"\nsource="s"\nhost="{host}"\nfolder="site"\npath="/"\nrequest_count=1\n[hosts]\n{hosts}'
        )

    page("one", "a.resolab.test")
    page("two", "a.resolab.test")
    page("many", "many.resolab.test", others=253)
    corpus = Corpus(tmp_path)
    with pytest.raises(ConfigurationError, match=r"a\.resolab\.test stands twice"):
        sites_of(corpus, ("one", "two"))
    with pytest.raises(ConfigurationError, match="more than 253 host names"):
        sites_of(corpus, ("many",))


@pytest.mark.parametrize(
    ("offer", "keys"),
    [
        (Offer.NOTHING, {}),
        (Offer.HTTPS_RECORD, {"https_record": True}),
        (Offer.ALT_SVC, {"alt_svc": True, "cache_control": "no-store"}),
    ],
)
def test_a_site_shows_one_sign_of_http_3_at_most(offer, keys):
    assert tomllib.loads("\n".join(layout.site_settings(offer))) == {"compression": []} | keys


def test_a_page_description_with_an_unknown_key_is_refused(tmp_path):
    page = tmp_path / "pages" / "odd"
    (page / "site").mkdir(parents=True)
    (page / "page.toml").write_text(
        'description="d"\nsource="s"\nhost="h"\nfolder="site"\npath="/"\nrequest_count=1\ncolour="red"\n'
    )
    with pytest.raises(ConfigurationError, match="colour"):
        sites_of(Corpus(tmp_path), ("odd",))
