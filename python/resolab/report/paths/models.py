"""The models of a plan's pages, where they have any: from where a run took them.

For: reports, which have a dataset and no files named by hand. Not for: whether a model still is what was measured: one
that is another by now finds fewer of its requests in the loads, which are counted.
"""

import contextlib
from collections.abc import Mapping, Sequence

from resolab.errors import ResolabError
from resolab.pages.model import PageModel
from resolab.plan import Corpus, Plan
from resolab.plan.shared_names import with_certificates


def models_of(plan: Plan, pages: Sequence[str]) -> Mapping[str, PageModel]:
    """Read them, by the page's name, as they are served; a file that is not there any more, or none, is left out."""
    corpus = Corpus.of_project(plan.own_pages)
    found: dict[str, PageModel] = {}
    for page in filter(corpus.is_model, pages):
        with contextlib.suppress(ResolabError):
            found[page] = with_certificates(corpus.model(page), plan.pages.certificates)
    return found
