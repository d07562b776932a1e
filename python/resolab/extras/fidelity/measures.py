"""Fidelity of one load of a clone, in numbers. Pure.

Not for: the minima of these numbers; see docs/method/clones.md.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from resolab.extras.fidelity.observed_load import BrowserAccount, EdgeAccount
from resolab.pages.clone.roles import has_body
from resolab.pages.facts import evidence_ratio
from resolab.pages.model import Discovery, Outcome, PageModel

APART_MS = 50.0
"""Requests closer together than 50 ms have no order worth repeating, as recorders' clocks are coarse."""


class Fidelity(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a page repeated by one load of its clone."""

    page: str
    browser: str
    evidence_ratio: float
    """The share of discoverers named by the recording. A clone repeats the model, not the page."""
    requests_count: int
    """The number of requests in the model."""
    issued_count: int
    extra_count: int
    """The number of requests outside the model, plus second requests for resources in the model."""
    never_asked: tuple[int, ...]
    """Positions in the model."""
    asked_again: tuple[int, ...]
    """Positions with more than one request."""
    foreign: tuple[str, ...]
    """Requested URLs without a position in the model."""
    hosts_count: int
    hosts_asked_count: int
    redirects_count: int
    redirects_followed_count: int
    preflights_count: int
    preflights_asked_count: int
    model_bytes: int
    """The model's body bytes on the wire, summed over the requested resources."""
    body_bytes: int
    """The body bytes sent by the edge."""
    bytes_by_kind: Mapping[str, tuple[int, int]]
    """The model's bytes and the edge's bytes, by resource kind."""
    depth: int
    depth_seen: int | None
    """The longest chain of discoverers in the browser's account; `None` for a browser without script names."""
    discoverers_ratio: float | None
    """The share of requests, without redirects, made by the model's discoverer; `None` without discoverers from the
    browser."""
    tau: float | None
    """Kendall's tau between the order of starts and the model's; `None` without two different starts."""
    tau_apart: float | None
    """The same tau over pairs with starts more than 50 ms apart in the model."""
    plt_ms: float | None
    model_load_ms: float | None


def measure_fidelity(model: PageModel, browser: str, heard: BrowserAccount, got: EdgeAccount) -> Fidelity:
    """Hold a load against the model."""
    resources = model.resources
    places = range(len(resources))
    asked = [place for place in places if _was_asked(model, place, heard, got)]
    redirects = [place for place in places if resources[place].discovery is Discovery.REDIRECT]
    with_body = [place for place in asked if has_body(resources[place])]
    starts = {place: one.start_ms for place, one in heard.asked.items()}
    return Fidelity(
        page=model.name,
        browser=browser,
        evidence_ratio=evidence_ratio(resources),
        requests_count=len(resources),
        issued_count=len(asked),
        extra_count=len(got.foreign) + sum(got.counts[place] - 1 for place in asked if _is_once(model, place, got)),
        never_asked=tuple(sorted({*places} - {*asked})),
        asked_again=tuple(place for place in asked if got.counts[place] > 1 and _is_once(model, place, got)),
        foreign=tuple(got.foreign),
        hosts_count=len({one.host for one in resources}),
        hosts_asked_count=len({resources[place].host for place in asked}),
        redirects_count=len(redirects),
        redirects_followed_count=sum(got.counts[place] > 0 for place in redirects),
        preflights_count=sum(one.preflight for one in resources),
        preflights_asked_count=got.preflights_count,
        model_bytes=sum(resources[place].wire_bytes for place in with_body),
        body_bytes=sum(got.bytes_by_place[place] for place in with_body),
        bytes_by_kind=_bytes_by_kind(model, with_body, got),
        depth=_depth({place: resources[place].parent for place in places}),
        depth_seen=_depth({place: one.parent for place, one in heard.asked.items()}) if heard.names_scripts else None,
        discoverers_ratio=_discoverers_ratio(model, heard) if heard.names_scripts else None,
        tau=_tau(model, starts, 0.0),
        tau_apart=_tau(model, starts, APART_MS),
        plt_ms=None if heard.plt_ms is None else round(heard.plt_ms, 1),
        model_load_ms=model.load_ms,
    )


def _was_asked(model: PageModel, place: int, heard: BrowserAccount, got: EdgeAccount) -> bool:
    """Return True when a request was issued. For a request modelled as failed, the browser's account is enough."""
    failed = model.resources[place].outcome is Outcome.FAILED
    return got.counts[place] > 0 or (failed and place in heard.asked)


def _is_once(model: PageModel, place: int, got: EdgeAccount) -> bool:
    """Return True when a second request is in excess: a reset request may be repeated (RFC 9110 section 9.2.2)."""
    return got.counts[place] > 0 and model.resources[place].outcome is not Outcome.FAILED


def compute_tau(one: Mapping[int, float], other: Mapping[int, float]) -> float | None:
    """Kendall's tau of two orders of starts, ties left out."""
    places = sorted(one.keys() & other.keys())
    return _kendall([one[place] for place in places], [other[place] for place in places], 0.0)


def _tau(model: PageModel, starts: Mapping[int, float], apart_ms: float) -> float | None:
    places = sorted(starts)
    wanted = [model.resources[place].start_ms for place in places]
    return _kendall(wanted, [starts[place] for place in places], apart_ms)


def _kendall(wanted: Sequence[float], seen: Sequence[float], apart: float) -> float | None:
    """Return concordant minus discordant pairs, as a share of pairs with wanted instants more than `apart` apart."""
    first, second = np.asarray(wanted, float), np.asarray(seen, float)
    above = np.triu_indices(len(first), k=1)
    gaps = (first[:, None] - first[None, :])[above]
    counted = np.abs(gaps) > apart
    if not counted.any():
        return None
    agree = np.sign(gaps) * np.sign((second[:, None] - second[None, :])[above])
    return round(float(agree[counted].sum() / counted.sum()), 4)


def _bytes_by_kind(model: PageModel, places: Sequence[int], got: EdgeAccount) -> Mapping[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for place in places:
        one = model.resources[place]
        wanted, sent = sums.get(one.kind.value, (0, 0))
        sums[one.kind.value] = (wanted + one.wire_bytes, sent + got.bytes_by_place[place])
    return sums


def _depth(parents: Mapping[int, int | None]) -> int:
    depths: dict[int, int] = {}

    def depth_of(place: int) -> int:
        chain = []
        at: int | None = place
        while at is not None and at not in depths and at not in chain:
            chain.append(at)
            at = parents.get(at)
        above = -1 if at is None else depths.get(at, -1)
        for step, link in enumerate(reversed(chain), start=1):
            depths[link] = above + step
        return depths[place]

    return max((depth_of(place) for place in parents), default=0)


def _discoverers_ratio(model: PageModel, heard: BrowserAccount) -> float | None:
    resources = model.resources
    ends = _ends(model)
    judged = [
        ends.get(one.parent, one.parent) == ends.get(wanted, wanted)
        for place, one in heard.asked.items()
        if (wanted := resources[place].parent) is not None and resources[place].discovery is not Discovery.REDIRECT
    ]
    return round(sum(judged) / len(judged), 4) if judged else None


def _ends(model: PageModel) -> Mapping[int | None, int]:
    """Map each redirect in a chain to the chain's final resource."""
    ends: dict[int | None, int] = {}
    for place in range(len(model.resources) - 1, -1, -1):
        one = model.resources[place]
        if one.discovery is Discovery.REDIRECT:
            ends[one.parent] = ends.get(place, place)
    return ends
