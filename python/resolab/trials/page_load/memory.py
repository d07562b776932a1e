"""Check the machine's memory for the pages of a testbed, before starting anything.

For: the only place with the memory cost of a page of many hosts. Not for: the content of a page
(`plan.pages.page_file`).

Both browsers have a process for each site with a document in a frame, and share processes beyond some number. Files of
pages are in the edge's memory, all of them or the largest page's (`layout.are_resident`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.lab.layout import PageOrigin, PageSite, are_resident
from resolab.plan.pages.page_file import registrable_domain

BASE_MB = 300
"""The memory of path, edge, stub and this program, without files of pages, in MB."""
BROWSER_MB = 450
"""The maximum memory of a browser without a page (docs/benchmarks.md), in MB."""
FRAME_SITE_MB = 15
"""The memory of a site's process, in MB, a quarter above the observed value (docs/method/clones.md)."""
PROCESSES_MOST = 60
"""The maximum number of processes; beyond this number browsers share processes."""
MEMINFO = Path("/proc/meminfo")
_DOCUMENT_ENDINGS = (".html", ".htm")
_MB = 1_000_000
_KIB = 1_024


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """The memory needed for the largest page of several, with the page's name."""

    page: str
    hosts_count: int
    sites_count: int
    """The number of sites with possible documents."""
    needed_mb: int


def check_memory(sites: Sequence[PageSite], browsers_count: int, meminfo: Path = MEMINFO) -> None:
    """Raise `MachineError` for pages needing more than the available memory; without a known value, accept all."""
    there_mb = available_mb(meminfo)
    if there_mb is None:
        return
    need = largest_need(sites, browsers_count)
    if need.needed_mb > there_mb:
        page = f"page {need.page} of {need.hosts_count} hosts on {need.sites_count} sites"
        browsers = "a browser" if browsers_count == 1 else f"{browsers_count} browsers"
        raise MachineError(
            f"could not start the testbed: {page} can take {need.needed_mb} MB with {browsers}, and {there_mb} MB are "
            "available; end other programs, or leave the page out"
        )


def largest_need(sites: Sequence[PageSite], browsers_count: int) -> MemoryNeed:
    """Return the memory for a testbed of these pages: at least one page, loaded in one browser at a time."""
    sizes = {site.page: sum(_files_bytes(origin) for origin in site.origins) for site in sites}
    held_bytes = sum(sizes.values()) if are_resident(sites) else max(sizes.values())
    counts = {site.page: _document_sites_count(site.origins) for site in sites}
    largest = max(sites, key=lambda site: counts[site.page])
    count = counts[largest.page]
    frames_mb = FRAME_SITE_MB * min(count, PROCESSES_MOST)
    needed_mb = BASE_MB + BROWSER_MB * browsers_count + frames_mb + held_bytes // _MB
    return MemoryNeed(largest.page, len(largest.hosts), count, needed_mb)


def available_mb(meminfo: Path = MEMINFO) -> int | None:
    """Return the memory available to programs, in MB (proc(5), MemAvailable)."""
    try:
        lines = meminfo.read_text("ascii").splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith("MemAvailable:")), None)
    return int(found.split()[1]) * _KIB // _MB if found else None


def _document_sites_count(origins: Iterable[PageOrigin]) -> int:
    """Count the registrable domains serving documents."""
    return len({registrable_domain(origin.host) for origin in origins if _serves_documents(origin)})


def _serves_documents(origin: PageOrigin) -> bool:
    return origin.folder is not None and any(file.suffix in _DOCUMENT_ENDINGS for file in origin.folder.rglob("*"))


def _files_bytes(origin: PageOrigin) -> int:
    if origin.folder is None:
        return 0
    return sum(file.stat().st_size for file in origin.folder.rglob("*") if file.is_file())
