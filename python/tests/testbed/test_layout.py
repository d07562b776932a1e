"""The edge's configuration says what the plan's pages need, and stays valid TOML whatever the folders are called."""

import tomllib
from pathlib import Path

import pytest

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
