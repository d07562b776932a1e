"""Loads that were never made: page load times drawn around truths that are known."""

from collections.abc import Mapping, Sequence

import numpy as np

from resolab.basics.records import BrowserKind, HandshakeMode, PageFailure, PageLoadRecord, Record
from resolab.extras.visit import (
    PlannedVisitLoad,
    ResolverConfiguration,
    VisitLoad,
    configurations,
    order,
    read_load_result,
)

PAGES = ["https://a.test/", "https://b.test/", "https://c.test/"]
PAGE_MS = {"https://a.test/": 300.0, "https://b.test/": 700.0, "https://c.test/": 1_500.0}
SIX = configurations(
    ["local", "udp://198.18.1.1", "tls://198.18.2.1", "https://198.18.3.1", "h3://198.18.4.1", "quic://198.18.5.1"], []
)
LIMIT_MS = 30_000.0


def page_load(
    url: str, plt_ms: float | None, *, failure: PageFailure | None = None, limit_ms: float = LIMIT_MS
) -> PageLoadRecord:
    return PageLoadRecord(
        url=url,
        browser=BrowserKind.FIREFOX,
        browser_version="1",
        measured=True,
        requested_handshake_mode=HandshakeMode.FULL,
        plt_ms=plt_ms,
        limit_ms=limit_ms,
        failure=failure,
    )


def made_up(
    extra_ms: Sequence[float],
    *,
    compared: Sequence[ResolverConfiguration] = SIX,
    pages: Sequence[str] = PAGES,
    loads_count: int = 4,
    noise_ms: float = 6.0,
    first_ms: float = 400.0,
    seed: int = 1,
) -> list[VisitLoad]:
    """Draw loads: the page's time, what the configuration adds, noise with a tail, and in the first round a miss."""
    truth: Mapping[ResolverConfiguration, float] = dict(zip(compared, extra_ms, strict=True))
    chance = np.random.default_rng(seed)
    found = []
    for visit in order(pages, compared, loads_count=loads_count, seed=seed):
        noise = chance.normal(0, noise_ms) + (chance.exponential(10 * noise_ms) if chance.random() < 0.03 else 0)
        miss = chance.uniform(0, first_ms) if visit.round == 0 else 0.0
        found.append(load_of(visit, PAGE_MS[visit.url] + truth[visit.configuration] + miss + noise))
    return found


def load_of(visit: PlannedVisitLoad, plt_ms: float | None, failure: PageFailure | None = None) -> VisitLoad:
    records: list[Record] = [page_load(visit.url, plt_ms, failure=failure)]
    return read_load_result(visit, records)
