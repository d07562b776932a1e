"""The limits set by an agent's operator on this machine; no job can raise the limits.

For: reading the file, and rejecting a plan beyond the limits. Not for: caps for every user (`manners`), or the match of
plan and code (`run_check`).

Pure except for reading: the time is an argument.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.extras.fleet.agent.public_hosts import is_public, read_address
from resolab.plan import LiveSettings, Plan, trials_a_block
from resolab.plan.live.resolvers import SYSTEM
from resolab.plan.live.settings import Endpoint
from resolab.plan.manners import DOH_PATH, HARD_CAPS, Caps, plain_resolver_url, read_host, resolver_endpoint
from resolab.plan.manners.sites import PORTS

KINDS = ("lab", "live")
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_KEYS = ("kinds", "hours", "sites", "resolvers", "opt_out", "trials_per_block", "operator_url", "caps")


@dataclass(frozen=True, slots=True)
class LimitRefusal:
    """The reason for not carrying out a plan here now."""

    why: str
    """The reason, in a line."""
    again_in_s: float | None = None
    """The time until a new attempt makes sense, in s; `None`: waiting changes nothing."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The allowed work; without a file only the lab, with no packets beyond the machine."""

    kinds: tuple[str, ...] = ("lab",)
    hours: tuple[tuple[time, time], ...] = ()
    """The spans of the machine's local day for starting blocks; empty: the whole day."""
    sites: tuple[str, ...] | None = None
    """The hosts allowed for live plans, including names below, `HOST:PORT` for another port than 80 or 443; `None`: any
    public host."""
    resolvers: tuple[str, ...] | None = None
    """The resolvers allowed for live plans: hosts, at their transports' own ports and paths, URLs, compared as written,
    or `system`; `None`: the machine's own, and any public resolver."""
    opt_out: tuple[str, ...] | None = None
    """The allowed URLs of opt-out lists in live plans; `None`: any at a public host's port 443."""
    trials_per_block: int | None = None
    operator_url: str | None = None
    """The required contact URL for sites; a live plan with another URL is rejected."""
    caps: Caps = field(default_factory=lambda: HARD_CAPS)


def read_limits(file: Path | None) -> AgentLimits:
    """Read the operator's file of limits."""
    if file is None:
        return AgentLimits()
    try:
        table = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"could not read the limits {file}: {error}; give a TOML file") from error
    return _limits(table, str(file))


def refusal(limits: AgentLimits, plan: Plan, now: datetime) -> LimitRefusal | None:
    """Return the reason for rejecting a plan; `None` for a plan within the limits."""
    kind = "lab" if plan.live is None else "live"
    if kind not in limits.kinds:
        return LimitRefusal(f"this agent's limits allow {' and '.join(limits.kinds)} plans, and {plan.name} is {kind}")
    trials = trials_a_block(plan)
    if limits.trials_per_block is not None and trials > limits.trials_per_block:
        return LimitRefusal(
            f"a block of {plan.name} has {trials} trials, this agent's limits allow {limits.trials_per_block}"
        )
    return _refusal_of_live(limits, plan) or _out_of_hours(limits, now)


def _refusal_of_live(limits: AgentLimits, plan: Plan) -> LimitRefusal | None:
    live = plan.live
    if live is None:
        return None
    if limits.operator_url is not None and live.operator_url != limits.operator_url:
        return LimitRefusal(
            f"{plan.name} names {live.operator_url} as its operator, this agent's limits {limits.operator_url}"
        )
    beyond = _site_beyond(limits, live) or _resolver_beyond(limits, live) or _opt_out_beyond(limits, live)
    if beyond is not None:
        return LimitRefusal(f"{plan.name} {beyond}, which this agent's limits do not allow")
    asked = asdict(HARD_CAPS.lower(live.caps))
    for name, most in asdict(limits.caps).items():
        if asked[name] > most:
            return LimitRefusal(
                f"{plan.name} may reach {name} = {asked[name]}, this agent's limits allow {most}: lower its cap"
            )
    return None


def _site_beyond(limits: AgentLimits, live: LiveSettings) -> str | None:
    for site in live.sites.values():
        host, port = read_host(site.url), urlsplit(site.url).port
        own_port = port is None or port in PORTS.values()
        if limits.sites is None:
            allowed = own_port and is_public(host)
        else:
            allowed = any(_is_site(host, port, own_port=own_port, allowed=one) for one in limits.sites)
        if not allowed:
            return f"loads {host}{'' if own_port else f' at port {port}'}"
    return None


def _is_site(host: str, port: int | None, *, own_port: bool, allowed: str) -> bool:
    parts = urlsplit(f"//{allowed}")
    right_port = own_port if parts.port is None else port == parts.port
    return right_port and _is_within(host, read_host(allowed))


def _resolver_beyond(limits: AgentLimits, live: LiveSettings) -> str | None:
    for resolver in live.resolvers.values():
        for endpoint in resolver.endpoints.values():
            if not _may_be_asked(limits, endpoint):
                return f"asks {endpoint.url}"
    return None


def _may_be_asked(limits: AgentLimits, endpoint: Endpoint) -> bool:
    if not endpoint.host:
        return limits.resolvers is None or SYSTEM in limits.resolvers
    asked = resolver_endpoint(endpoint.url)
    usual = asked.port == resolver_endpoint(f"{endpoint.url.partition('://')[0]}://x").port
    usual = usual and endpoint.path in {"", DOH_PATH}
    if limits.resolvers is None:
        return usual and is_public(endpoint.host)
    as_written = [one for one in limits.resolvers if _is_endpoint(one)]
    hosts = [one for one in limits.resolvers if one not in as_written]
    return (usual and any(_is_within(endpoint.host, one) for one in hosts)) or any(
        resolver_endpoint(one) == asked and (_read_path(one) == endpoint.path) for one in as_written
    )


def _is_endpoint(text: str) -> bool:
    """Return True when a resolver is given with its transport or port, not as a host alone."""
    return "://" in text or (read_address(text) is None and bool(text.rpartition(":")[1]))


def _read_path(url: str) -> str:
    return urlsplit(plain_resolver_url(url)).path if "://" in url else ""


def _opt_out_beyond(limits: AgentLimits, live: LiveSettings) -> str | None:
    if live.opt_out is None:
        return None
    parts = urlsplit(live.opt_out)
    if limits.opt_out is not None:
        allowed = live.opt_out in limits.opt_out
    else:
        allowed = parts.port in {None, 443} and is_public(read_host(live.opt_out))
    return None if allowed else f"fetches {live.opt_out}"


def _is_within(host: str, allowed: str) -> bool:
    """Return True when a host is the allowed host, or a name below; an address matches only itself, in any spelling."""
    address, own = read_address(host), read_address(allowed)
    if address is not None or own is not None:
        return address == own
    name = read_host(allowed)
    return host.rstrip(".") == name or host.rstrip(".").endswith(f".{name}")


def _out_of_hours(limits: AgentLimits, now: datetime) -> LimitRefusal | None:
    if not limits.hours or any(_is_between(now.time(), begin, end) for begin, end in limits.hours):
        return None
    wait = min(_compute_wait(now, begin) for begin, _ in limits.hours)
    spans = ", ".join(f"{begin:%H:%M}-{end:%H:%M}" for begin, end in limits.hours)
    return LimitRefusal(f"this agent's limits allow blocks to begin at {spans} alone", again_in_s=wait.total_seconds())


def _is_between(now: time, begin: time, end: time) -> bool:
    """Return True when a time of day lies in a span, which may cross midnight."""
    return begin <= now < end if begin < end else now >= begin or now < end


def _compute_wait(now: datetime, begin: time) -> timedelta:
    at = now.replace(hour=begin.hour, minute=begin.minute, second=0, microsecond=0)
    return (at if at > now else at + timedelta(days=1)) - now


def _limits(table: Mapping[str, Any], source: str) -> AgentLimits:
    for key in table:
        if key not in _KEYS:
            raise ConfigurationError(f"{source}: {key}: unknown; give one of {', '.join(_KEYS)}")
    caps = table.get("caps", {})
    if not isinstance(caps, dict):
        raise ConfigurationError(f"{source}: caps: must be a table")
    trials = table.get("trials_per_block")
    if trials is not None and (not isinstance(trials, int) or isinstance(trials, bool) or trials < 1):
        raise ConfigurationError(f"{source}: trials_per_block: must be a whole number from 1, not {trials!r}")
    operator_url = table.get("operator_url")
    if operator_url is not None and not isinstance(operator_url, str):
        raise ConfigurationError(f"{source}: operator_url: must be a text, not {operator_url!r}")
    return AgentLimits(
        kinds=_kinds(table, source),
        hours=tuple(_hours(one, source) for one in _texts(table, "hours", source) or ()),
        sites=_check_texts(table, "sites", source, lambda one: (read_host(one), urlsplit(f"//{one}").port)),
        resolvers=_check_texts(table, "resolvers", source, lambda one: _is_endpoint(one) and resolver_endpoint(one)),
        opt_out=_texts(table, "opt_out", source),
        trials_per_block=trials,
        operator_url=operator_url,
        caps=HARD_CAPS.lower(caps, where=f"{source}: [caps]"),
    )


def _kinds(table: Mapping[str, Any], source: str) -> tuple[str, ...]:
    kinds = _texts(table, "kinds", source)
    if kinds is None:
        return AgentLimits().kinds
    if not kinds or not set(kinds) <= set(KINDS):
        raise ConfigurationError(f"{source}: kinds: give one or both of {', '.join(KINDS)}")
    return kinds


def _texts(table: Mapping[str, Any], key: str, source: str) -> tuple[str, ...] | None:
    values = table.get(key)
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise ConfigurationError(f"{source}: {key}: must be a list of texts, not {values!r}")
    return tuple(values)


def _check_texts(
    table: Mapping[str, Any], key: str, source: str, read: Callable[[str], object]
) -> tuple[str, ...] | None:
    """Return texts after parsing each, so a mistake is reported now and not mistaken for a rejection later."""
    texts = _texts(table, key, source)
    for one in texts or ():
        try:
            read(one)
        except (ValueError, ConfigurationError) as error:
            raise ConfigurationError(f"{source}: {key}: {one!r}: {error}") from error
    return texts


def _hours(text: str, source: str) -> tuple[time, time]:
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ConfigurationError(f'{source}: hours: {text!r} is no span; write it as "22:00-06:00"')
    hour, minute, to_hour, to_minute = map(int, found.groups())
    return time(hour, minute), time(to_hour, to_minute)
