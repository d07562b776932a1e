"""The page models of the corpus. Not for: what is made of them."""

from collections.abc import Iterator

from resolab.installation import project_root
from resolab.pages.file import read_model
from resolab.pages.model import PageModel

SUFFIX = ".page.json"


def page_models() -> Iterator[PageModel]:
    """Read every one, in the order of their names."""
    for file in sorted((project_root() / "pages" / "corpus").glob(f"*{SUFFIX}")):
        yield read_model(file)
