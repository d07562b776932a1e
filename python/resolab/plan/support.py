"""Which combinations of levels no browser can do, and what a plan says about those it does not exclude.

For: refusing a plan before it runs, in one line that says what to leave out. Not for: driving anything.
"""

import json
from dataclasses import dataclass

from resolab.errors import ConfigurationError
from resolab.plan.factors import NAMED_ORDER, Selection, selects
from resolab.plan.model import Condition, Plan


@dataclass(frozen=True, slots=True)
class Impossible:
    """Conditions that cannot be, and why."""

    levels: Selection
    reason: str


_NATIVE_DOH: Selection = {"resolver_path": ("native",), "dns_transport": ("doh", "doh3")}
_OVER_TCP = ("h1", "h2")
_NOT_FULL = ("resumed", "zero_rtt")

IMPOSSIBLE = (
    Impossible(
        {"resolver_path": ("native",), "dns_transport": ("dotcp", "dot", "doq")},
        "no browser's own resolver speaks DoTCP, DoT or DoQ",
    ),
    Impossible(
        {"browser": ("chromium",), "http_version": _OVER_TCP, "requested_handshake_mode": ("zero_rtt",)},
        "Chromium sends no page request as early data over TCP",
    ),
    Impossible(
        {"http_version": _OVER_TCP, "h3_discovery": ("https_record", "alt_svc")},
        "a page over h1 or h2 discovers no HTTP/3",
    ),
    Impossible(
        {"http_version": ("h1",), **_NATIVE_DOH},
        "a browser's DoH needs HTTP/2, which it has for pages and resolver alike or not at all",
    ),
    Impossible({"resolver_path": ("stub",), "doh_method": ("get", "post")}, "behind the stub the browser sends no DoH"),
    Impossible({"dns_transport": ("doudp", "dotcp", "dot", "doq"), "doh_method": ("get", "post")}, "it is no DoH"),
    Impossible({"name_resolution": ("getaddrinfo",), **_NATIVE_DOH}, "getaddrinfo asks over Do53 only"),
    Impossible(
        {"name_resolution": ("getaddrinfo",), "h3_discovery": ("https_record",)},
        "getaddrinfo gives addresses and no HTTPS records",
    ),
    Impossible({"dns_transport": ("doudp",), "dns_connection_state": ("warm",)}, "DoUDP has no connection"),
    Impossible(
        {"dns_connection_state": ("warm",), "requested_dns_handshake_mode": _NOT_FULL},
        "a look-up over an open connection has no handshake",
    ),
    Impossible(
        {"dns_transport": ("doudp", "dotcp"), "requested_dns_handshake_mode": _NOT_FULL},
        "DoUDP and DoTCP have no TLS or QUIC handshake",
    ),
    Impossible(
        {
            "browser": ("chromium",),
            "resolver_path": ("native",),
            "dns_transport": ("doh",),
            "requested_dns_handshake_mode": ("zero_rtt",),
        },
        "Chromium sends no DoH query as early data over TCP",
    ),
    Impossible(
        {"browser": ("firefox",), "doh_method": ("post",), "requested_dns_handshake_mode": ("zero_rtt",)},
        "Firefox sends no POST as early data",
    ),
)


def impossible(condition: Condition) -> Impossible | None:
    """Find out why a condition cannot be."""
    return next((one for one in IMPOSSIBLE if selects(one.levels, condition)), None)


def check_combinations(source: str, plan: Plan) -> None:
    """Fail for conditions that cannot be, and for a plan that excludes every one."""
    conditions = plan.conditions()
    if not conditions:
        raise ConfigurationError(f"{source}: exclude: leaves no condition; exclude less")
    for condition in conditions:
        found = impossible(condition)
        if found is not None:
            where = _key_of(condition, found)
            raise ConfigurationError(f"{source}: {where}: {condition.id}: {found.reason}; {_way_out(plan, found)}")


def _key_of(condition: Condition, found: Impossible) -> str:
    """Name the key that is wrong: a transport's path, or the factor that goes beyond what every plan names."""
    if set(found.levels) == {"resolver_path", "dns_transport"}:
        return f"resolver_path.{condition.dns_transport}"
    optional = [factor for factor in found.levels if factor in NAMED_ORDER and factor != "resolver_path"]
    return f"factors.{(optional or list(found.levels))[-1]}"


def _way_out(plan: Plan, found: Impossible) -> str:
    """Say which exclusion would help, with no more keys and levels than this plan needs."""
    keys = []
    for factor, words in found.levels.items():
        own = plan.words(factor)
        meant = [word for word in own if word in words]
        if len(meant) < len(own):
            keys.append(f"{factor} = {json.dumps(meant)}")
    if set(found.levels) == {"resolver_path", "dns_transport"}:
        return 'use "stub"'
    return f"add [[exclude]] with {', '.join(keys)}" if keys else "every condition of the plan is like that"


def check_baselines(source: str, plan: Plan) -> None:
    """Fail when a condition would be compared with one the plan does not have."""
    conditions = plan.conditions()
    known = set(conditions)
    for condition in conditions:
        reference = plan.baseline_of(condition)
        if reference in known:
            continue
        missing = [factor for factor in plan.factors.named if factor not in plan.baseline.levels()]
        hint = f"name a level of {', '.join(missing)} in [baseline], too" if missing else "do not exclude it"
        problem = f"{condition.id} would be compared with {reference.id}, which is no condition of this plan"
        raise ConfigurationError(f"{source}: baseline: {problem}; {hint}")
