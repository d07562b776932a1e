"""Builds of browsers: the machine's stock browsers, and `[browser.NAME]` with kind and path.

For: reading the tables, and the kind and path of a browser's name. Not for: the file at a path; plans are read on
machines without it, too (`browser.find`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.records import BrowserKind
from resolab.plan.section import NAME, PlanSection

KINDS = tuple(str(kind) for kind in BrowserKind)
_RESERVED = (*KINDS, "none", "stub", "gateway")
"""Names with another meaning in a dataset's columns."""


@dataclass(frozen=True, slots=True)
class BrowserBuild:
    """One build of a browser."""

    kind: BrowserKind
    path: Path | None = None
    """The program; `None`: the machine's stock browser of this kind."""


BrowserBuilds = Mapping[str, BrowserBuild]
"""The builds by the name of their level of the factor `browser`."""
STOCK_BROWSERS: BrowserBuilds = {str(kind): BrowserBuild(kind) for kind in (BrowserKind.CHROMIUM, BrowserKind.FIREFOX)}


def read_browser_builds(top: PlanSection, base: Path) -> BrowserBuilds:
    """Read `[browser.NAME]`, and add the stock browsers; relative paths are relative to `base`.

    Builds outside the levels are allowed, so a plan can be narrowed in one line.
    """
    names, section = top.values("browser"), top.section("browser", required=False)
    return {**STOCK_BROWSERS, **{name: _read_build(section, name, base) for name in names}}


def _read_build(section: PlanSection, name: str, base: Path) -> BrowserBuild:
    if not NAME.fullmatch(name):
        section.fail(name, "is no name; use letters, digits, - and _")
    if name in _RESERVED:
        section.fail(name, f"is a name of resolab's own; other such names: {', '.join(_RESERVED)}; give it another")
    table = section.section(name)
    kind = table.take_word("kind", KINDS)
    path = Path(table.text("path")).expanduser()
    table.finish()
    return BrowserBuild(BrowserKind(kind), base / path)
