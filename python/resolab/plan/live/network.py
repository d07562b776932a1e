"""A live plan as an ordinary plan: the content of its own tables, with the derived levels and exclusions.

For: one reading for both kinds of plans. Not for: the tables' details (`sites`, `resolvers`).

Every site is a page and the access link is the machine's own. Browser and site agree on HTTP version and handshakes. A
resolver without an address for a transport excludes the matching conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, HandshakeMode, HttpVersion, ResolverPath
from resolab.plan.live.resolvers import check_native, read_resolvers
from resolab.plan.live.settings import LAB, LIVE_PROFILE, LiveResolver, LiveSettings
from resolab.plan.live.sites import Sites, read_sites
from resolab.plan.manners import HARD_CAPS, user_agent_suffix
from resolab.plan.section import NAME, PlanSection
from resolab.plan.settings import Unit

LIVE = "live"
LEVELS = ("resolver", "dns_transport", "browser", "name_resolution", "doh_method")
"""Factors a live plan may have; the others are not in anybody's hand there."""
_TABLES = ("network", "sites", "resolvers")
_OF_THE_LAB: Mapping[str, Sequence[str]] = {
    "instrument": ("keep_awake", "pcap", "key_log", "paths", "backend", "netlog", "failure_screenshots"),
    "limits": ("lateness_p99_ms",),
    "queries": ("warm_count",),
    "key_exchange": ("edge",),
    "analysis": ("equivalence_margin_rtts",),
}
"""Keys for the lab's own parts, forbidden in live plans."""
_TAKEN_ONCE = ("netlog", "failure_screenshots")
"""Keys among the former without effect, accepted by earlier versions; datasets of such plans are still read."""
_NATIVE = (DnsTransport.DOUDP, DnsTransport.DOH)


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A live plan's table in the form of an ordinary plan, with the live settings."""

    table: Mapping[str, Any]
    settings: LiveSettings | None


def live_table(
    source: str, table: Mapping[str, Any], base: Path, begun_with: Sequence[str] | None, *, at_hand: bool
) -> LiveTable:
    """Replace the tables of a live plan by their consequences; an ordinary plan stays unchanged."""
    if "network" not in table:
        return LiveTable(table, None)
    top = PlanSection(source, table)
    network = top.section("network")
    network.take_word("kind", (LIVE,))
    _refuse_the_labs(top, table, at_hand=at_hand)
    levels = _take_decisive_factors(top, table)
    resolvers = read_resolvers(_read_resolvers(top, levels["resolver"]), levels["resolver"])
    sites = read_sites(top.section("sites"), base, _read_seed(table), begun_with, at_hand=at_hand)
    settings = _settings(network, resolvers, sites, base)
    paths = _paths(table, levels["dns_transport"])
    _check_addresses(top, levels["dns_transport"], resolvers)
    check_native(PlanSection(source, {}, "resolver_path"), resolvers, _read_paths(paths))
    return LiveTable(_ordinary(table, sites.names, paths, _exclude_without_address(levels, resolvers)), settings)


def _read_resolvers(top: PlanSection, names: Sequence[str]) -> PlanSection:
    section = top.section("resolvers")
    for name in names:
        if name not in section:
            top.fail("factors.resolver", f"{name!r} is declared nowhere; write [resolvers.{name}]")
        if name == LAB:
            section.fail(name, "is the name of the lab's own; give it another")
    return section


def _take_decisive_factors(top: PlanSection, table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Take the two decisive factors, and refuse factors absent from live plans."""
    factors = table.get("factors")
    if not isinstance(factors, dict):
        top.fail("factors", "must be a table")
    for factor in factors:
        if factor not in LEVELS:
            top.fail(f"factors.{factor}", f"is no factor of a live plan; allowed: {', '.join(LEVELS)}")
    section = top.section("factors")
    names = section.levels("resolver", None)
    wrong = next((name for name in names if not NAME.fullmatch(name)), None)
    if wrong is not None:
        section.fail("resolver", f"{wrong!r} is no name; use letters, digits, - and _")
    return {"resolver": names, "dns_transport": section.levels("dns_transport", list(DnsTransport))}


def _refuse_the_labs(top: PlanSection, table: Mapping[str, Any], *, at_hand: bool) -> None:
    for key in ("pages", "resolver", "edge", "software"):
        if key in table:
            top.fail(key, "is a lab's; a live plan has [sites] and [resolvers.NAME]")
    if "browser" in table:
        top.fail("browser", "is for plans of the lab; a live plan has the machine's stock browsers")
    for name, keys in _OF_THE_LAB.items():
        given = table.get(name)
        for key in keys:
            if isinstance(given, dict) and key in given and (at_hand or key not in _TAKEN_ONCE):
                top.fail(f"{name}.{key}", "is about the lab's own parts, which a live plan has not; leave it out")
    design = table.get("design")
    if isinstance(design, dict) and design.get("unit", Unit.PAGE) != Unit.PAGE:
        top.fail("design.unit", 'a live plan samples pages: give "page", or leave it out')


def _settings(network: PlanSection, resolvers: Mapping[str, LiveResolver], sites: Sites, base: Path) -> LiveSettings:
    vantage_point, operator_url = network.text("vantage_point"), network.text("operator_url")
    if not NAME.fullmatch(vantage_point) or vantage_point == LAB:
        network.fail("vantage_point", f"must be a name of letters, digits, - and _, other than {LAB!r}")
    try:
        user_agent_suffix(operator_url)
    except ConfigurationError as error:
        network.fail("operator_url", str(error))
    opt_out = network.text("opt_out") if "opt_out" in network else None
    known_names_first = network.flag("known_names_first", default=False)
    caps = network.values("caps")
    try:
        HARD_CAPS.lower(caps, where="")
    except ConfigurationError as error:
        network.fail("caps", str(error).strip())
    network.allow("opt_out")
    network.finish()
    return LiveSettings(
        vantage_point=vantage_point,
        operator_url=operator_url,
        resolvers=resolvers,
        sites=sites.by_name,
        site_list=sites.site_list,
        opt_out=opt_out if opt_out is None or urlsplit(opt_out).scheme in {"https", "http"} else str(base / opt_out),
        caps=caps,
        known_names_first=known_names_first,
    )


def _paths(table: Mapping[str, Any], transports: Sequence[str]) -> Mapping[str, Any]:
    usual = {one: str(ResolverPath.NATIVE if one in _NATIVE else ResolverPath.STUB) for one in transports}
    given = table.get("resolver_path", {})
    return {**usual, **given} if isinstance(given, dict) else usual


def _read_paths(paths: Mapping[str, Any]) -> dict[DnsTransport, tuple[ResolverPath, ...]]:
    """Take the valid words; the ordinary reading reports faults in others."""
    known = {str(path) for path in ResolverPath}
    words = {
        key: value if isinstance(value, list) else [value] for key, value in paths.items() if key in [*DnsTransport]
    }
    return {
        DnsTransport(key): tuple(ResolverPath(one) for one in value if one in known) for key, value in words.items()
    }


def _check_addresses(top: PlanSection, transports: Sequence[str], resolvers: Mapping[str, LiveResolver]) -> None:
    for transport in transports:
        if not any(DnsTransport(transport) in one.endpoints for one in resolvers.values()):
            top.fail(
                "factors.dns_transport", f"no resolver has an address for {transport!r}; give one, or leave it out"
            )
    for name, one in resolvers.items():
        if not set(one.endpoints) & {DnsTransport(word) for word in transports}:
            top.fail(f"resolvers.{name}", "has no address for any transport of the plan; give one, or leave it out")


def _exclude_without_address(
    levels: Mapping[str, Sequence[str]], resolvers: Mapping[str, LiveResolver]
) -> list[Mapping[str, Sequence[str]]]:
    """Write the exclusions of transports without a resolver's address."""
    lacking = {
        name: [word for word in levels["dns_transport"] if DnsTransport(word) not in one.endpoints]
        for name, one in resolvers.items()
    }
    return [{"resolver": [name], "dns_transport": words} for name, words in lacking.items() if words]


def _ordinary(
    table: Mapping[str, Any], pages: list[str], paths: Mapping[str, Any], excluded: list[Mapping[str, Sequence[str]]]
) -> Mapping[str, Any]:
    given = table.get("exclude", [])
    design = table.get("design", {})
    return {
        **{key: value for key, value in table.items() if key not in _TABLES},
        "factors": {
            **table["factors"],
            "page": pages,
            "profile": [LIVE_PROFILE],
            "http_version": [str(HttpVersion.ANY)],
            "requested_handshake_mode": [str(HandshakeMode.FULL)],
        },
        "resolver_path": paths,
        "exclude": [*given, *excluded] if isinstance(given, list) else given,
        "design": {**design, "unit": str(Unit.PAGE)} if isinstance(design, dict) else design,
    }


def _read_seed(table: Mapping[str, Any]) -> int:
    """Take the plan's seed before the check; the ordinary reading reports faults."""
    seed = table.get("seed")
    return seed if isinstance(seed, int) else 0
