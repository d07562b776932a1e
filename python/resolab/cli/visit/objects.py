"""A visit for programs: JSON objects, milliseconds, null for a missing number or a value beyond a limit.

For: shapes of `--json`; docs/guides/visit.md names their keys. Not for: the values.
"""

import math
from collections.abc import Mapping

from resolab.extras.visit import ConfigurationSummary, ResolverConfiguration, VisitExtent, VisitLoad
from resolab.plan.manners import Contact
from resolab.stats import Estimate

Json = dict[str, object]


def announce_visit(
    found: VisitExtent, *, seed: int, browser: str, baseline: ResolverConfiguration, pages: list[str]
) -> Json:
    """Return the object announcing the visit."""
    return {
        "record": "visit",
        "pages": pages,
        "browser": browser,
        "seed": seed,
        "loads_count": found.loads_count,
        "total_count": found.total,
        "baseline": _build_configuration(baseline),
    }


def load(one: VisitLoad) -> Json:
    """Return the object of one load."""
    return {
        "record": "visit_load",
        "url": one.visit.url,
        **_build_configuration(one.visit.configuration),
        "round": one.visit.round,
        "plt_ms": one.plt_ms,
        "limit_ms": one.limit_ms,
        "failure": one.failure,
        "failure_detail": one.failure_detail,
        "opening_ms": list(one.opening_ms),
        "look_up_ms": list(one.look_up_ms),
        "ping_ms": list(one.ping_ms),
    }


def summary(one: ConfigurationSummary) -> Json:
    """Return the object of one configuration."""
    return {
        "record": "visit_summary",
        **_build_configuration(one.configuration),
        "place": one.place,
        "verdict": one.verdict,
        "loads_count": one.loads_count,
        "failures": dict(one.failures),
        "median_plt_ms": _finite(one.median_plt_ms),
        "first_median_plt_ms": _finite(one.first_plt_ms),
        "page_median_plt_ms": {url: _finite(ms) for url, ms in one.page_plt_ms.items()},
        **_estimate("difference", one.difference),
        **_estimate("behind_fastest", one.behind),
        "opening_ms": one.opening_ms,
        "look_up_ms": one.look_up_ms,
        "ping_ms": one.ping_ms,
    }


def contact(one: Contact) -> Json:
    """Return the object of a host in a dry run."""
    return {
        "record": "visit_contact",
        "reason": one.reason,
        "host": one.host,
        "port": one.port,
        "carriers": list(one.carriers),
        "times_at_most": one.times_at_most,
        "per_hour_at_most": one.per_hour_at_most,
    }


def _build_configuration(configuration: ResolverConfiguration) -> Json:
    return {
        "resolver": configuration.words,
        "dns_transport": configuration.dns_transport,
        "resolver_url": configuration.url,
    }


def _estimate(name: str, found: Estimate | None) -> Mapping[str, object]:
    return {
        f"{name}_ms": found and _finite(found.value),
        f"{name}_ci_low_ms": found and _finite(found.ci_low),
        f"{name}_ci_high_ms": found and _finite(found.ci_high),
        f"{name}_ci_level": found and found.level,
        f"{name}_pairs_count": found and found.n,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
