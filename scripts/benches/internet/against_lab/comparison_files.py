"""The lab's side and the live side of a comparison as files: pages, a profile, two plans.

For: texts made from the box's own description; both sides have the same pages, distances and caches. Not for: running
the plans (`rounds`).

A page of the lab has the box's hosts with the same folders as in the box, in the same groups of addresses and
certificates. The profile's round trip is the round trip of the nearest among resolver and hosts. The extra distance of
the others stands in the page and in `resolver_extra_rtt_ms`. The box has no rate limit and no loss; neither has the
profile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, ResolverCache
from resolab.basics.toml_text import key_lines, key_text
from resolab.extras.internet import BoxLayout, BoxResolver, BoxSite
from resolab.extras.internet.failures import OPT_OUT_URL
from resolab.extras.internet.layout import HOME, BoxOrigin
from resolab.plan import Corpus, Page
from resolab.plan.manners import HARD_CAPS
from resolab.plan.pages.serving import OF_THE_TESTBED

PROFILE = "box-home"
NATIVE = (DnsTransport.DOUDP, DnsTransport.DOH)
DIGITS = 6
"""The decimal digits of round trips in ms: a picosecond is no distance."""
LIVE_PLAN, LAB_PLAN = "live.toml", "lab.toml"


@dataclass(frozen=True)
class ComparisonSettings:
    """The settings common to both sides."""

    layout: BoxLayout
    resolver: BoxResolver
    sites: Sequence[BoxSite]
    transports: Sequence[DnsTransport]
    browsers: Sequence[str]
    cache: ResolverCache
    recursion_ms: float
    loads: int
    """The number of loads of each cell in a round."""
    rounds: int

    @property
    def base_rtt_ms(self) -> float:
        """The round trip to the nearest of all addresses."""
        addresses = [self.resolver.address, *(one.address for site in self.sites for one in origins_of(site))]
        return min(self.layout.rtt_ms(HOME, address) for address in addresses)

    def beyond_ms(self, address: str) -> float:
        """Return the round trip to an address beyond the nearest address's."""
        return round(self.layout.rtt_ms(HOME, address) - self.base_rtt_ms, DIGITS)

    @property
    def loads_of_site(self) -> int:
        """The number of live loads of a site in all rounds."""
        return self.loads * self.rounds * len(self.transports) * len(self.browsers)


def origins_of(site: BoxSite) -> list[BoxOrigin]:
    """List the page's own hosts, without the box's redirect to the page."""
    return [origin for origin in site.origins if origin.host != site.domain]


def check(sides: ComparisonSettings) -> None:
    """Refuse settings impossible to measure."""
    if missing := [one.value for one in sides.transports if one not in sides.resolver.transports]:
        raise ConfigurationError(f"resolver {sides.resolver.name} of the box has no {', '.join(missing)}")
    cap = HARD_CAPS.loads_per_site_per_hour
    if sides.loads_of_site > cap:
        raise ConfigurationError(
            f"{sides.loads_of_site} live loads of each site are above the {cap} an hour that the manners allow: give "
            "fewer rounds, transports or browsers"
        )


def write(sides: ComparisonSettings, folder: Path, corpus: Corpus) -> None:
    """Write all files: `pages/`, `profiles/` and both plans."""
    check(sides)
    pages = {page.name: page for page in corpus.read_pages([site.page for site in sides.sites])}
    for site in sides.sites:
        _write_page(sides, site, pages[site.page], folder / "pages" / site.page)
    (folder / "profiles").mkdir(parents=True)
    (folder / "profiles" / f"{PROFILE}.toml").write_text(profile_text(sides), "utf-8")
    (folder / LIVE_PLAN).write_text(live_plan_text(sides), "utf-8")
    (folder / LAB_PLAN).write_text(lab_plan_text(sides), "utf-8")


def _write_page(sides: ComparisonSettings, site: BoxSite, page: Page, folder: Path) -> None:
    # Of hosts that have settings alone.
    (folder / "empty").mkdir(parents=True)
    origins = origins_of(site)
    folders = {origin.host: str(origin.table.get("folder", "empty")) for origin in origins}
    document, *further = origins
    tables: list[tuple[str, Mapping[str, object]]] = [
        (
            "",
            {
                "source": "a site of an internet in a box, with its hosts, folders and distances",
                "host": document.host,
                "folder": folders[document.host],
                "path": page.path,
                "request_count": page.request_count,
            },
        ),
        ("[hosts]", {origin.host: folders[origin.host] for origin in further}),
    ]
    groups = {address: number for number, address in enumerate(dict.fromkeys(one.address for one in origins))}
    for number, origin in enumerate(origins):
        told = {key: value for key, value in origin.table.items() if key not in OF_THE_TESTBED}
        (folder / f"{number}.toml").write_text("\n".join(key_lines(told)) + "\n", "utf-8")
        serving: dict[str, object] = {
            "settings": f"{number}.toml",
            "address_group": groups[origin.address],
            "extra_rtt_ms": sides.beyond_ms(origin.address),
            "not_awaited": sorted(page.find_serving(origin.host).not_awaited),
        }
        if origin.certificate is not None:
            serving["certificate"] = origin.certificate
        tables.append((f"[serving.{key_text(origin.host)}]", serving))
    (folder / "page.toml").write_text(_text(tables), "utf-8")


def profile_text(sides: ComparisonSettings) -> str:
    """Write the profile: the round trip of the nearest address, no rate, no loss."""
    one_way: Mapping[str, object] = {"one_way_delay_ms": round(sides.base_rtt_ms / 2, DIGITS)}
    about = {"name": PROFILE, "source": "distances from home in an internet in a box"}
    return _text([("", about), ("[up]", one_way), ("[down]", one_way)])


def live_plan_text(sides: ComparisonSettings) -> str:
    """Write the live plan of a round; every block loads one page."""
    addresses = {one.value: sides.resolver.address_for(one) for one in sides.transports}
    return _text(
        [
            ("", _describe_study(sides, "live", sides.loads * len(sides.sites))),
            (
                "[network]",
                {
                    "kind": "live",
                    "vantage_point": "box-home",
                    "operator_url": "https://operator.test/measurements",
                    "opt_out": OPT_OUT_URL,
                },
            ),
            ("[sites]", {"urls": [site.url for site in sides.sites]}),
            (f"[resolvers.{key_text(sides.resolver.name)}]", addresses),
            ("[factors]", {"resolver": [sides.resolver.name], **_factors(sides)}),
            ("[resolver_path]", _paths(sides)),
            ("[baseline]", {"dns_transport": sides.transports[0].value}),
        ]
    )


def lab_plan_text(sides: ComparisonSettings) -> str:
    """Write the lab's plan of a round; every block loads all pages."""
    factors = {
        "page": [site.page for site in sides.sites],
        "profile": [PROFILE],
        **_factors(sides),
        "http_version": ["h2"],
        "requested_handshake_mode": ["full"],
        "resolver_extra_rtt_ms": [sides.beyond_ms(sides.resolver.address)],
        "resolver_cache": [sides.cache.value],
    }
    told = {"miss_delay_ms": sides.recursion_ms} if sides.cache is ResolverCache.MISS else {}
    return _text(
        [
            ("", _describe_study(sides, "lab", sides.loads)),
            ("[factors]", factors),
            ("[resolver_path]", _paths(sides)),
            ("[baseline]", {"dns_transport": sides.transports[0].value}),
            *([("[resolver]", told)] if told else []),
        ]
    )


def _describe_study(sides: ComparisonSettings, side: str, blocks: int) -> Mapping[str, object]:
    return {
        "name": f"box-{side}-{sides.cache.value}",
        "question": "Do page loads by live mode take what the same loads take in the lab?",
        "seed": 1,
        "blocks": blocks,
    }


def _factors(sides: ComparisonSettings) -> dict[str, object]:
    return {"dns_transport": [one.value for one in sides.transports], "browser": list(sides.browsers)}


def _paths(sides: ComparisonSettings) -> Mapping[str, object]:
    return {one.value: "native" if one in NATIVE else "stub" for one in sides.transports}


def _text(tables: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    texts = ["\n".join([*([head] if head else []), *key_lines(table)]) for head, table in tables]
    return "\n\n".join(texts) + "\n"
