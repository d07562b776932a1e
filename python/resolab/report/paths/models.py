"""The models of a plan's pages, where they have any: from where a run took them.

For: reports, which have a dataset and no files named by hand. Not for: whether a model still is what was measured: one
that is another by now finds fewer of its requests in the loads, which are counted.
"""

from collections.abc import Mapping

from resolab.errors import ResolabError
from resolab.pages.file import read_model
from resolab.pages.generated import generate
from resolab.pages.model import PageModel
from resolab.plan import Corpus, Plan
from resolab.plan.own_pages import GeneratedPage, is_model


def models_of(plan: Plan, corpus: Corpus) -> Mapping[str, PageModel]:
    """Read them, by the page's name; a file that is not there any more, or none, is left out."""
    that_come_along = corpus.models()
    found: dict[str, PageModel] = {}
    for page in plan.factors.page:
        place = plan.own_pages.get(page) or that_come_along.get(page)
        if isinstance(place, GeneratedPage):
            found[page] = generate(place.seed, place.number)
        elif place is not None and is_model(place):
            try:
                found[page] = read_model(place)
            except ResolabError:
                continue
    return found
