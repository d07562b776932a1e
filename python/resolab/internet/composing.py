"""The whole layout of a box: the standard hosts with the requested sites, and deliberate failures.

For: a single description made of the parts. Pure, except for missing clones, made on demand. Not for: the parts
themselves.
"""

from collections.abc import Sequence
from pathlib import Path

from resolab.internet.failures import failing_sites, failing_zones
from resolab.internet.layout import Layout
from resolab.internet.places import place_named, seen_from
from resolab.internet.sites import PAGES, Addresses, corpus_sites, site_zones
from resolab.internet.standard import common_zones, hosts, resolvers, servers


def compose(opt_out_folder: Path, pages: Sequence[str] = PAGES, place: str | None = None) -> Layout:
    """Compose a box with these pages of the corpus, in standard form or seen from a vantage point."""
    addresses = Addresses()
    sites = (*corpus_sites(pages, addresses), *failing_sites(addresses, opt_out_folder))
    layout = Layout(
        hosts=hosts(addresses.networks),
        servers=servers(),
        zones=(*common_zones(), *site_zones(sites), *failing_zones()),
        resolvers=resolvers(),
        sites=sites,
    )
    return layout if place is None else seen_from(place_named(place), layout)
