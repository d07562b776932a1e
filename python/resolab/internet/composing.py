"""The whole layout of a box: the standard hosts with the sites asked for, and what goes wrong on purpose.

For: one description made of the parts. Pure, but for clones, which are made where they are missing. Not for: the
parts themselves.
"""

from collections.abc import Sequence
from pathlib import Path

from resolab.internet.failures import failing_sites, failing_zones
from resolab.internet.layout import Layout
from resolab.internet.sites import PAGES, Addresses, corpus_sites, site_zones
from resolab.internet.standard import common_zones, hosts, resolvers, servers


def compose(opt_out_folder: Path, pages: Sequence[str] = PAGES) -> Layout:
    """Compose a box with these pages of the corpus."""
    addresses = Addresses()
    sites = (*corpus_sites(pages, addresses), *failing_sites(addresses, opt_out_folder))
    return Layout(
        hosts=hosts(addresses.networks),
        servers=servers(),
        zones=(*common_zones(), *site_zones(sites), *failing_zones()),
        resolvers=resolvers(),
        sites=sites,
    )
