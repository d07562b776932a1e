"""What an agent's operator allows on this machine, which no job can raise.

For: reading the file, and the refusal of a plan that goes beyond. Not for: caps that hold for everybody (`manners`), or
whether plan and code fit each other (`checks`).

Pure but for reading: the time is an argument.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from resolab.errors import ConfigurationError
from resolab.manners import HARD_CAPS, Caps
from resolab.plan import Plan, trials_a_block

KINDS = ("lab", "live")
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_KEYS = ("kinds", "hours", "sites", "trials_per_block", "operator_url", "caps")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plan is not carried out here now."""

    why: str
    """One line."""
    again_in_s: float | None = None
    """When it may be asked again; None: nothing changes by waiting."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed; without a file the lab alone, which sends nothing beyond the machine."""

    kinds: tuple[str, ...] = ("lab",)
    hours: tuple[tuple[time, time], ...] = ()
    """Spans of the machine's local day in which blocks may begin; none: all of it."""
    sites: tuple[str, ...] | None = None
    """Names that live plans may load, names below them included; None: any."""
    trials_per_block: int | None = None
    operator_url: str | None = None
    """Whom sites are told to turn to; a live plan with another is refused."""
    caps: Caps = field(default_factory=lambda: HARD_CAPS)


def read_limits(file: Path | None) -> Limits:
    """Read the operator's file."""
    if file is None:
        return Limits()
    try:
        table = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"could not read the limits {file}: {error}; give a TOML file") from error
    return _limits(table, str(file))


def refusal(limits: Limits, plan: Plan, now: datetime) -> Refusal | None:
    """Say why a plan goes beyond what is allowed; None when it does not."""
    kind = "lab" if plan.live is None else "live"
    if kind not in limits.kinds:
        return Refusal(f"this agent's limits allow {' and '.join(limits.kinds)} plans, and {plan.name} is {kind}")
    trials = trials_a_block(plan)
    if limits.trials_per_block is not None and trials > limits.trials_per_block:
        return Refusal(
            f"a block of {plan.name} has {trials} trials, this agent's limits allow {limits.trials_per_block}"
        )
    return _refusal_of_live(limits, plan) or _out_of_hours(limits, now)


def _refusal_of_live(limits: Limits, plan: Plan) -> Refusal | None:
    live = plan.live
    if live is None:
        return None
    if limits.operator_url is not None and live.operator_url != limits.operator_url:
        return Refusal(
            f"{plan.name} names {live.operator_url} as its operator, this agent's limits {limits.operator_url}"
        )
    for site in live.sites.values():
        if limits.sites is not None and not any(_is_within(site.host, one) for one in limits.sites):
            return Refusal(f"{plan.name} loads {site.host}, which this agent's limits do not allow")
    asked = asdict(HARD_CAPS.lowered(live.caps))
    for name, most in asdict(limits.caps).items():
        if asked[name] > most:
            return Refusal(
                f"{plan.name} may reach {name} = {asked[name]}, this agent's limits allow {most}: lower its cap"
            )
    return None


def _is_within(host: str, allowed: str) -> bool:
    return host == allowed or host.endswith(f".{allowed}")


def _out_of_hours(limits: Limits, now: datetime) -> Refusal | None:
    if not limits.hours or any(_is_between(now.time(), begin, end) for begin, end in limits.hours):
        return None
    wait = min(_until(now, begin) for begin, _ in limits.hours)
    spans = ", ".join(f"{begin:%H:%M}-{end:%H:%M}" for begin, end in limits.hours)
    return Refusal(f"this agent's limits allow blocks to begin at {spans} alone", again_in_s=wait.total_seconds())


def _is_between(now: time, begin: time, end: time) -> bool:
    """Whether a time of day lies in a span, which may go over midnight."""
    return begin <= now < end if begin < end else now >= begin or now < end


def _until(now: datetime, begin: time) -> timedelta:
    at = now.replace(hour=begin.hour, minute=begin.minute, second=0, microsecond=0)
    return (at if at > now else at + timedelta(days=1)) - now


def _limits(table: Mapping[str, Any], source: str) -> Limits:
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
    return Limits(
        kinds=_kinds(table, source),
        hours=tuple(_hours(one, source) for one in _texts(table, "hours", source) or ()),
        sites=_texts(table, "sites", source),
        trials_per_block=trials,
        operator_url=operator_url,
        caps=HARD_CAPS.lowered(caps, where=f"{source}: [caps]"),
    )


def _kinds(table: Mapping[str, Any], source: str) -> tuple[str, ...]:
    kinds = _texts(table, "kinds", source)
    if kinds is None:
        return Limits().kinds
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


def _hours(text: str, source: str) -> tuple[time, time]:
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ConfigurationError(f'{source}: hours: {text!r} is no span; write it as "22:00-06:00"')
    hour, minute, to_hour, to_minute = map(int, found.groups())
    return time(hour, minute), time(to_hour, to_minute)
