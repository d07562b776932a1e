"""The relations of real pages' numbers: the numbers of source D in `resolab.pages.generated.published`.

For: `scripts/bench pages --facts`, to measure the numbers again from other recordings. Not for: drawing pages.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from resolab.pages.facts import PageFacts, count_facts
from resolab.pages.model import PageModel


def measure_numbers(models: Sequence[PageModel]) -> Iterator[str]:
    """Yield the numbers, a line each."""
    facts = [count_facts(model) for model in models]
    yield "rank correlations of requests, hosts, sites, bytes, depth, redirects, documents:"
    for row in _correlations(facts):
        yield "  " + " ".join(f"{value:5.2f}" for value in row)
    requests = _logs(one.requests_count for one in facts)
    hosts = _logs(one.hosts_count for one in facts)
    own = [_own_share(model) for model in models]
    fits = {
        "ln hosts over ln requests": (requests, hosts),
        "ln sites over ln hosts": (hosts, _logs(one.sites_count for one in facts)),
        "ln bytes over ln requests": (requests, _logs(one.wire_bytes for one in facts)),
        "ln depth over ln requests": (requests, _logs(one.depth for one in facts)),
        "ln (redirects + 0.5) over ln requests": (requests, _logs(one.redirects_count + 0.5 for one in facts)),
        "ln documents over ln requests": (requests, _logs(one.documents_count for one in facts)),
        "logit of the first party's requests over ln hosts": (hosts, [math.log(one / (1 - one)) for one in own]),
        "ln of the first party's hosts over ln hosts": (hosts, _logs(_own_hosts(model) for model in models)),
    }
    for words, (over, of) in fits.items():
        fit = stats.linregress(over, of)
        left = np.std(np.asarray(of) - fit.slope * np.asarray(over) - fit.intercept, ddof=2)
        yield f"{words}: slope {fit.slope:.3f}, intercept {fit.intercept:.3f}, sd left {left:.3f}"
    yield from _shares(models, facts, own)


def _shares(models: Sequence[PageModel], facts: Sequence[PageFacts], own: Sequence[float]) -> Iterator[str]:
    shares = {
        "first party's requests": own,
        "hosts with one request": [one.single_request_hosts_count / one.hosts_count for one in facts],
        "requests after the load event": [one.after_load_count / one.requests_count for one in facts],
        "addresses a host": [ratio for model in models if (ratio := _addresses(model)) is not None],
        "Zipf slope of the other hosts": [slope for model in models if (slope := _zipf(model)) is not None],
    }
    for words, values in shares.items():
        yield (
            f"{words}: "
            + ", ".join(f"{value:.2f}" for value in np.quantile(values, [0.25, 0.5, 0.75]))
            + " (quartiles)"
        )


def _correlations(facts: Sequence[PageFacts]) -> list[list[float]]:
    columns = [
        (
            one.requests_count,
            one.hosts_count,
            one.sites_count,
            one.wire_bytes,
            one.depth,
            one.redirects_count,
            one.documents_count,
        )
        for one in facts
    ]
    ranks = np.array([stats.rankdata(column) for column in zip(*columns, strict=True)])
    return [[float(value) for value in row] for row in np.corrcoef(ranks)]


def _logs(values: Iterator[float]) -> list[float]:
    return [math.log(value) for value in values]


def _own_share(model: PageModel) -> float:
    share = sum(model.hosts[one.host].site == 0 for one in model.resources) / len(model.resources)
    return min(0.99, max(0.01, share))


def _own_hosts(model: PageModel) -> int:
    return sum(host.site == 0 for host in model.hosts)


def _addresses(model: PageModel) -> float | None:
    groups = [host.address_group for host in model.hosts if host.address_group is not None]
    return len(set(groups)) / len(groups) if len(groups) >= 5 else None


def _zipf(model: PageModel) -> float | None:
    counts = Counter(one.host for one in model.resources if model.hosts[one.host].site)
    ordered = sorted(counts.values(), reverse=True)
    if len(ordered) < 8:
        return None
    return -float(stats.linregress(np.log(np.arange(1, len(ordered) + 1)), np.log(ordered)).slope)
