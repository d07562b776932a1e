"""Studies: each folder brings the sections of a paper or of a question, and trials of its own where needed.

For: finding the folders and what each brings; no other file names a study. A new study is a new folder with a module
`sections` that lists its sections as `SECTIONS`, a module `trials` (`plan.study`), or both. A study may also bring a
browser preset (`browser_preset`), a column for failed loads (`load_status`) and printed differences between places
(`printed_places`). Not for: sections of every dataset (`report.sections`).
"""

import importlib
import pkgutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resolab.report.sections.section import Section


def list_folders(module: str) -> list[str]:
    """List the studies with a module of this name, in the order of the studies' names."""
    studies = sorted(one.name for one in pkgutil.iter_modules(__path__) if one.ispkg)
    return [study for study in studies if find_spec(f"{__name__}.{study}.{module}") is not None]


def find_values(module: str, name: str) -> list[Any]:
    """List a value of the studies' modules with a name, in the order of the studies' names."""
    folders = list_folders(module)
    return [getattr(importlib.import_module(f"{__name__}.{study}.{module}"), name) for study in folders]


def find_sections() -> "list[Section]":
    """List the sections of all studies, in the order of the studies' names."""
    return [section for sections in find_values("sections", "SECTIONS") for section in sections]
