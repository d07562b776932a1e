"""Sites of a live plan: URLs, or part of a list by rank (`rank,domain`, as in Tranco), drawn by the plan's seed.

For: the sites, by the page's name of each in conditions. Not for: loading sites.

The sample is drawn by the seed in the plan's file. Another seed on the command line changes orders but not the loaded
sites.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.plan.live.settings import LiveSite, SiteList
from resolab.plan.manners import plain_url, read_host
from resolab.plan.section import PlanSection

HIGHEST_RANK = 100_000_000
MOST_SITES = 100_000
_HOST = re.compile(r"(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_RANKS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9-]+")
_IN_A_LINE = re.compile(r"(\d+),(\S+)")


class Sites:
    """The sites of a plan; where the list is not at hand, their names alone."""

    def __init__(
        self, sites: Sequence[LiveSite], site_list: SiteList | None, names: Sequence[str] | None = None
    ) -> None:
        self.by_name: Mapping[str, LiveSite] = {one.name: one for one in sites}
        self.site_list = site_list
        self.names = list(self.by_name if names is None else names)


def read_sites(
    section: PlanSection, base: Path, seed: int, begun_with: Sequence[str] | None, *, at_hand: bool
) -> Sites:
    """Read `[sites]`; for a dataset's plan, `begun_with` has its pages; without `at_hand` no list is opened."""
    if ("urls" in section) == ("list" in section):
        section.fail("", "takes one of urls and list")
    if "urls" in section:
        sites = [_read_url(section, url) for url in section.levels("urls", None)]
        section.allow("list")
        section.finish()
        _check_names(section, "urls", sites)
        return Sites(sites, None)
    site_list, file = _site_list(section, base)
    if begun_with is not None and not at_hand:
        return Sites([], site_list, begun_with)
    text = _read(section, file)
    sites = _draw_sample(section, text, site_list, seed)
    _check_names(section, "list", sites)
    if begun_with is not None:
        by_name = {one.name: one for one in sites}
        gone = next((name for name in begun_with if name not in by_name), None)
        if gone is not None:
            section.fail("list", f"site {gone!r}, which the run began with, is not drawn any more; put the list back")
        # A list that has grown since gives the run no further sites, which would change the order of all.
        sites = [by_name[name] for name in begun_with]
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Sites(sites, SiteList(site_list.list_id, site_list.file, digest, site_list.ranks, site_list.sample))


def page_name(url: str) -> str:
    """Return the page's name for a site: its host, then the parts of its path."""
    parts = urlsplit(url)
    return _NOT_IN_NAMES.sub("_", f"{parts.netloc}{parts.path}{'?' if parts.query else ''}{parts.query}").strip("_")


def _read_url(section: PlanSection, url: str) -> LiveSite:
    try:
        parts = urlsplit(url)
        known = parts.scheme in {"https", "http"} and read_host(url) and parts.port != 0
    except (ValueError, ConfigurationError):
        known = False
    if not known or parts.username is not None or parts.fragment or not url.isprintable() or " " in url:
        section.fail("urls", f"{url!r} is no site; give https://HOST/PATH")
    return LiveSite(page_name(url), url if parts.path else f"{url}/")


def _check_names(section: PlanSection, key: str, sites: Sequence[LiveSite]) -> None:
    seen: dict[str, LiveSite] = {}
    for site in sites:
        if (other := seen.setdefault(site.name, site)) is not site:
            section.fail(key, f"{other.url} and {site.url} would both be called {site.name!r}; leave one of them out")
    pages: dict[str, LiveSite] = {}
    for site in sites:
        if (other := pages.setdefault(plain_url(site.url), site)) is not site:
            section.fail(key, f"{other.url} and {site.url} are one page; leave one of them out")


def _site_list(section: PlanSection, base: Path) -> tuple[SiteList, Path]:
    name, list_id = section.text("list"), section.text("list_id")
    ranks = tuple(_range(section, text) for text in section.levels("ranks", None))
    sample = section.integer("sample", low=1, high=MOST_SITES) if "sample" in section else None
    section.allow("sample", "urls")
    section.finish()
    return SiteList(list_id, name, None, ranks, sample), base / name


def _range(section: PlanSection, text: str) -> tuple[int, int]:
    found = _RANKS.fullmatch(text)
    low, high = (0, 0) if found is None else (int(found[1]), int(found[2] or found[1]))
    if not 1 <= low <= high <= HIGHEST_RANK:
        section.fail("ranks", f'{text!r} is no range of ranks; give "1-1000" and the like')
    return low, high


def _read(section: PlanSection, file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        section.fail("list", f"could not read {file}: {reason}; give a file of lines RANK,DOMAIN")


def _draw_sample(section: PlanSection, text: str, site_list: SiteList, seed: int) -> list[LiveSite]:
    """Draw the sample: each domain has a key of seed and name, independent of all else."""
    found = list(_read_list_lines(section, text, site_list.ranks))
    if not found:
        section.fail("ranks", f"no line of {site_list.file} has such a rank")
    if site_list.sample is None or site_list.sample == len(found):
        return found
    if site_list.sample > len(found):
        section.fail("sample", f"{site_list.sample} are more than the {len(found)} sites of these ranks")
    keyed = sorted(found, key=lambda site: (_key(seed, site.name), site.name))
    return sorted(keyed[: site_list.sample], key=lambda site: site.rank or 0)


def _read_list_lines(section: PlanSection, text: str, ranges: Sequence[tuple[int, int]]) -> Iterator[LiveSite]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        parts = _IN_A_LINE.fullmatch(line.strip())
        domain = "" if parts is None else parts[2].lower()
        if parts is None or not _HOST.fullmatch(domain):
            section.fail("list", f"line {number} is {line[:80]!r} and not RANK,DOMAIN")
        rank = int(parts[1])
        if any(low <= rank <= high for low, high in ranges):
            yield LiveSite(page_name(f"https://{domain}/"), f"https://{domain}/", rank)


def _key(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}/sites/{name}".encode()).hexdigest()
