"""The whole layout of a box: the standard hosts with the requested sites, and deliberate failures.

For: a single description made of the parts. Pure, except for missing clones, made on demand. Not for: the parts
themselves.
"""

from collections.abc import Sequence
from pathlib import Path

from resolab.extras.internet.failures import make_failing_zones, place_failing_sites
from resolab.extras.internet.layout import BoxLayout
from resolab.extras.internet.places import find_vantage_point, move_home
from resolab.extras.internet.sites import PAGES, AddressAllocator, corpus_sites, site_zones
from resolab.extras.internet.standard import common_zones, hosts, resolvers, servers


def compose(opt_out_folder: Path, pages: Sequence[str] = PAGES, place: str | None = None) -> BoxLayout:
    """Compose a box with these pages of the corpus, in standard form or seen from a vantage point."""
    addresses = AddressAllocator()
    sites = (*corpus_sites(pages, addresses), *place_failing_sites(addresses, opt_out_folder))
    layout = BoxLayout(
        hosts=hosts(addresses.networks),
        servers=servers(),
        zones=(*common_zones(), *site_zones(sites), *make_failing_zones()),
        resolvers=resolvers(),
        sites=sites,
    )
    return layout if place is None else move_home(find_vantage_point(place), layout)
