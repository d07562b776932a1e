"""Studies: each folder brings the sections of a paper or of a question, and trials of its own where needed.

For: finding the folders; a new study is a new folder with a module `sections` that lists its sections as `SECTIONS`, a
module `trials` (`plan.study`), or both. Not for: sections of every dataset (`report.sections`).
"""

import importlib
import importlib.util
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resolab.report.sections.section import Section


def find_sections() -> "list[Section]":
    """List the sections of all studies, in the order of the studies' names."""
    names = sorted(one.name for one in pkgutil.iter_modules(__path__) if one.ispkg)
    files = [f"{__name__}.{name}.sections" for name in names]
    modules = [importlib.import_module(file) for file in files if importlib.util.find_spec(file) is not None]
    return [section for module in modules for section in module.SECTIONS]
