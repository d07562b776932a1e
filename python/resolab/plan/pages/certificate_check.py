"""The check of connection sharing by certificate: two names of a page must share a certificate.

For: refusing a plan with identical arms before its run; the names of a model with a shared certificate. Not for: the
edge's certificates (`testbed.layout`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import ConnectionSharing
from resolab.pages.model import PageModel
from resolab.plan.condition import Condition
from resolab.plan.corpus import Corpus
from resolab.plan.model import Plan
from resolab.plan.pages.page_file import registrable_domain
from resolab.plan.settings import PageCertificates

BY_CERTIFICATE = (ConnectionSharing.BROWSER_RULE, ConnectionSharing.ORIGIN_FRAME, ConnectionSharing.CERTIFICATE)
"""Methods of sharing with the need for two names on one certificate."""


def check_shared_names(source: str, plan: Plan, corpus: Corpus, conditions: Sequence[Condition]) -> None:
    """Refuse sharing by certificate for a plan without a page with two names on one certificate."""
    asked = [way.value for way in BY_CERTIFICATE if any(one.connection_sharing is way for one in conditions)]
    if not asked or any(_shares(groups) for groups in _groups(plan, corpus)):
        return
    problem = f"no page has two names on one certificate, so that nothing is shared by {' or '.join(asked)}"
    remedy = (
        'set pages.certificates = "site"'
        if plan.pages.certificates is PageCertificates.RECORDED
        else "take pages of several names of one site"
    )
    raise ConfigurationError(f"{source}: factors.connection_sharing: {problem}; {remedy}, or leave those levels out")


def _shares(groups: Iterable[object]) -> bool:
    return any(count > 1 for group, count in Counter(groups).items() if group is not None)


def _groups(plan: Plan, corpus: Corpus) -> Iterable[list[object]]:
    """List, page by page, the certificate group of each name; `None`: not known."""
    certificates = plan.pages.certificates
    by_site = certificates is PageCertificates.SITE
    models = [page for page in plan.factors.page if corpus.is_model(page)]
    for page in corpus.read_pages([page for page in plan.factors.page if page not in set(models)]):
        yield [registrable_domain(host) if by_site else page.find_serving(host).certificate for host in page.hosts]
    for name in models:
        model = assign_certificates(corpus.model(name), certificates)
        asked = sorted({one.host for one in model.resources})
        yield [model.hosts[host].certificate for host in asked]


def assign_certificates(model: PageModel, certificates: PageCertificates) -> PageModel:
    """Return a model with the certificates assigned by the plan."""
    if certificates is PageCertificates.RECORDED:
        return model
    hosts = tuple(msgspec.structs.replace(host, certificate=host.site) for host in model.hosts)
    return msgspec.structs.replace(model, hosts=hosts)
