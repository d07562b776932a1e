"""The edge's further tables of announced names: a document for each arm and case, and its names in the zone.

For: hosts, documents, and their announcements as TOML. Not for: the common tables of a lab (`lab.layout`).
"""

from collections.abc import Sequence
from pathlib import Path

from resolab.lab.layout import RESOLVER_ADDRESS
from resolab.plan.pages.page_file import PAGES_DOMAIN
from resolab.studies.announced.model import SEPARATE, SHARED, DocumentCase

HOSTS = {SEPARATE: (f"own.{PAGES_DOMAIN}", "10.77.1.250"), SHARED: (f"shared.{PAGES_DOMAIN}", RESOLVER_ADDRESS)}
"""The document's host and address by the document's connection."""
NAMES_KEY = 65400
"""The key of the HTTPS record with the list of names, for private use (RFC 9460 section 14.3.2)."""


def find_url(case: DocumentCase) -> str:
    """Return the URL of a case's document."""
    return f"https://{_find_host(case)}{_find_path(case)}"


def write_tables(cases: Sequence[DocumentCase], names_count: int, folder: Path) -> str:
    """Write the documents into a folder, and return the edge's tables."""
    pages = folder / "announced"
    pages.mkdir(exist_ok=True)
    names = {delay_ms: _list_names(names_count, delay_ms) for delay_ms in sorted({one.name_delay_ms for one in cases})}
    text = "[coalescing]\nshared_connection = true\n"
    for delay_ms, listed in names.items():
        text += "".join(f'[[zone]]\nname = "{name}"\ntype = "A"\nvalue = "192.0.2.81"\n' for name in listed)
        text += "".join(f'[[name]]\nname = "{name}"\ndelay_ms = {delay_ms}\n' for name in listed if delay_ms)
    for case in cases:
        links = "".join(f"<img src=https://{name}/1>" for name in names[case.name_delay_ms])
        (pages / _find_path(case)[1:]).write_text(f"<!doctype html>{links}\n", "utf-8")
    for host in dict.fromkeys(map(_find_host, cases)):
        text += _write_site(host, pages, [case for case in cases if _find_host(case) == host], names)
    return text


def _find_host(case: DocumentCase) -> str:
    """Return the host's name; each list of names is in the HTTPS record of a separate host."""
    listed = f"listed{case.name_delay_ms:g}-" if case.announcement == "https_record" else ""
    return listed + HOSTS[case.mode][0]


def _find_path(case: DocumentCase) -> str:
    return f"/{case.announcement}-{case.server_time_ms:g}-{case.name_delay_ms:g}.html"


def _list_names(count: int, delay_ms: float) -> list[str]:
    return [f"late{delay_ms:g}-{number:05}.{PAGES_DOMAIN}" for number in range(count)]


def _write_site(host: str, pages: Path, cases: Sequence[DocumentCase], names: dict[float, list[str]]) -> str:
    first = cases[0]
    text = f'[[site]]\nhost = "{host}"\naddress = "{HOSTS[first.mode][1]}"\nfolder = "{pages}"\ncompression = []\n'
    for case in cases:
        text += f'[[site.response]]\npath = "{_find_path(case)}"\nserver_time_ms = {case.server_time_ms}\n'
        listed = names[case.name_delay_ms]
        if case.announcement == "early_hints":
            text += "early_hints = [" + ", ".join(f"'<https://{name}>; rel=dns-prefetch'" for name in listed) + "]\n"
        if case.announcement == "server_push":
            text += "pushed_questions = [" + ", ".join(f"'{name} A'" for name in listed) + "]\n"
    if first.announcement == "https_record":
        value = f'1 . alpn=h2 key{NAMES_KEY}="{",".join(names[first.name_delay_ms])}"'
        text += f'[[zone]]\nname = "{host}"\ntype = "HTTPS"\nvalue = \'{value}\'\n'
    return text
