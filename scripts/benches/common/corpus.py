"""The page models of the corpus. Not for: using the models."""

from collections.abc import Iterator

from resolab.basics.installation import project_root
from resolab.pages.file import read_model
from resolab.pages.model import PageModel

SUFFIX = ".page.json"


def page_models() -> Iterator[PageModel]:
    """Read every model, in the order of names."""
    for file in sorted((project_root() / "pages" / "corpus").glob(f"*{SUFFIX}")):
        yield read_model(file)
