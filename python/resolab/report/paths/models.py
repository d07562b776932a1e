"""The models of a plan's pages, where they have any: from where a run took them.

For: reports, which have a dataset and no files named by hand. Not for: whether a model still is what was measured: one
that is another by now finds fewer of its requests in the loads, which are counted.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import replace

from resolab.errors import ResolabError
from resolab.pages.model import PageModel
from resolab.plan import Corpus, Plan


def models_of(plan: Plan, corpus: Corpus) -> Mapping[str, PageModel]:
    """Read them, by the page's name; a file that is not there any more, or none, is left out."""
    with_own = replace(corpus, own_pages=plan.own_pages)
    found: dict[str, PageModel] = {}
    for page in filter(with_own.is_model, plan.factors.page):
        with contextlib.suppress(ResolabError):
            found[page] = with_own.model(page)
    return found
