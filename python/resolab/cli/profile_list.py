"""The list of profiles for people: a line for each profile, under the citation of its source.

For: choosing an access network at a glance. Not for: all numbers (`--json`), or a profile's file
(docs/formats/profile.md).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
"""A row of `resolab list profiles --json`."""
FOLDED_FROM = 13
"""A source with this many profiles or more is one line, unless all are wanted."""
_CITATION = re.compile(r"(?P<first>[^,:]+)(?P<others>,[^:]*)?: (?P<title>.+?,? \d{4})\b")
_NAME_WIDTH = 31
_HEAD = f"{'profile':{_NAME_WIDTH}}  {'RTT ms':>7}  {'down Mbit/s':>11}  {'up Mbit/s':>9}  loss down/up %"


def layout_profiles(rows: Sequence[Row], *, whole: bool) -> Iterator[str]:
    """Yield the lines, profiles with shorter round trips first; `whole` shows every profile of a large source."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_cite(str(row["source"])), []).append(row)
    yield _HEAD
    for citation, members in sorted(groups.items(), key=lambda one: len(one[1]) >= FOLDED_FROM):
        yield ""
        yield citation
        if len(members) >= FOLDED_FROM and not whole:
            yield _fold(members)
        else:
            yield from map(_line, sorted(members, key=lambda row: row["rtt_ms"]))


def _cite(source: str) -> str:
    """Return first author, title and year of a source; a source in other words stands whole."""
    found = _CITATION.match(source)
    if found is None:
        return source
    return f"{found['first']}{' et al.' if found['others'] else ''}: {found['title']}"


def _line(row: Row) -> str:
    down, up = (_mbps(row[name]) for name in ("down_bps", "up_bps"))
    losses = (row["loss_down_ratio"], row["loss_up_ratio"])
    loss = " / ".join(f"{100 * ratio:g}" for ratio in losses) if any(losses) else ""
    return f"{row['profile']:{_NAME_WIDTH}}  {row['rtt_ms']:7.1f}  {down:>11}  {up:>9}  {loss}".rstrip()


def _fold(members: Sequence[Row]) -> str:
    families = dict.fromkeys(f"{str(row['profile']).partition('-')[0]}-*" for row in members)
    rtts, rates = ([row[name] or 0 for row in members] for name in ("rtt_ms", "down_bps"))
    return (
        f"{', '.join(families)}: {len(members)} profiles, RTT {min(rtts):.0f} to {max(rtts):.0f} ms, down "
        f"{_mbps(min(rates))} to {_mbps(max(rates))} Mbit/s; list them with --all, or with a part of the name"
    )


def _mbps(rate_bps: float | None) -> str:
    """Format a rate; a link without a rate is not limited."""
    return f"{rate_bps / 1e6:.1f}" if rate_bps else "no limit"
