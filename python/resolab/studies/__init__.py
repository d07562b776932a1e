"""Studies: each folder brings the sections of a paper or of a question, with printed numbers and queries of its own.

For: finding the folders; a new study is a new folder with a module `sections` that lists its sections as `SECTIONS`.
Not for: sections of every dataset (`report.sections`).
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resolab.report.sections.section import Section


def find_sections() -> "list[Section]":
    """List the sections of all studies, in the order of the studies' names."""
    names = sorted(one.name for one in pkgutil.iter_modules(__path__) if one.ispkg)
    modules = [importlib.import_module(f"{__name__}.{name}.sections") for name in names]
    return [section for module in modules for section in module.SECTIONS]
