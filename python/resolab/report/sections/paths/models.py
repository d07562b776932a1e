"""The models of a plan's pages, if any, from the sources of the run.

For: reports; a report has a dataset and no files named on the command line. Not for: detecting changed models. A model
changed after the run matches fewer requests in the loads; the report counts the missing requests.
"""

import contextlib
from collections.abc import Mapping, Sequence

from resolab.basics.errors import ResolabError
from resolab.pages.model import PageModel
from resolab.plan import Corpus, Plan
from resolab.plan.pages.certificate_check import assign_certificates


def read_models(plan: Plan, pages: Sequence[str]) -> Mapping[str, PageModel]:
    """Read the models as served, by the page's name; missing or invalid files are left out."""
    corpus = Corpus.from_project(plan.own_pages)
    found: dict[str, PageModel] = {}
    for page in filter(corpus.is_model, pages):
        with contextlib.suppress(ResolabError):
            found[page] = assign_certificates(corpus.model(page), plan.pages.certificates)
    return found
