"""A recording with the browser's netlog: the log adds facts about connections to the page model.

For: addresses, certificates and connections of hosts. Facts of the recording itself stay. Not for: reading logs.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.browser.browser_log import BrowserConnection, BrowserLog
from resolab.extras.recordings.importer import import_recording
from resolab.extras.recordings.netlog.connections import PageConnections, page_connections
from resolab.extras.recordings.recording import Recording
from resolab.extras.recordings.values import read_host
from resolab.pages.model import Host, PageModel

_MARGIN_MS = 1_000.0
"""A connection may be opened before the first request's start: the log's instants are rounded, another process's."""
_CHROMIUM = re.compile(r"chrom|\bedg|opera|brave|vivaldi|electron|webview|blink", re.IGNORECASE)
_OTHERS = re.compile(
    r"firefox|fennec|firebug|\bgecko|webkit|safari|epiphany|\bmsie\b|\bie\b|internet explorer|trident|servo|ladybird",
    re.IGNORECASE,
)
"""Names of other engines, their browsers and tools. Chromium's user agents name some of them besides Chrome."""


def import_with_netlog(
    file: Path, name: str, log: BrowserLog, *, keep_names: bool = False
) -> tuple[PageModel, PageConnections]:
    """Import a recording with the log of the recording's browser."""
    chosen: list[BrowserConnection] = []

    def join(recording: Recording) -> None:
        try:
            chosen.extend(_choose_connections(recording, log))
        except ValueError as problem:
            way_out = "give the log of the same load, or leave --netlog out"
            raise ConfigurationError(f"failed to join the netlog with {file}: {problem}; {way_out}") from problem
        _fill(recording, chosen)

    model = import_recording(file, name, keep_names=True, before=join)
    names = {host.name for host in model.hosts if host.name is not None}
    opened = Counter(one.host for one in chosen if one.is_open)
    known = {request.host for one in chosen for request in one.requests} | set(opened)
    hosts = tuple(_set_connections(host, opened, known, keep_names=keep_names) for host in model.hosts)
    return msgspec.structs.replace(model, hosts=hosts), page_connections(chosen, names)


def can_be_chromium(maker: str) -> bool:
    """Return False for the name of another browser; a proxy's or an unknown maker's recording can be of any."""
    return _CHROMIUM.search(maker) is not None or _OTHERS.search(maker) is None


def _set_connections(host: Host, opened: Counter[str | None], known: set[str | None], *, keep_names: bool) -> Host:
    """Set the number of connections opened to a host, 0 if all its requests used others' connections."""
    count = host.connection_count
    if count is None and host.name in known:
        count = opened[host.name]
    return msgspec.structs.replace(host, name=host.name if keep_names else None, connection_count=count)


def _choose_connections(recording: Recording, log: BrowserLog) -> Sequence[BrowserConnection]:
    """Choose the connections of this load; a log may cover many. Raise ValueError for the log of another load."""
    maker = recording.browser or recording.creator or ""
    if not can_be_chromium(maker):
        raise ValueError(f"the recording is of {maker}, the log of Chromium")
    if log.is_cut_off:
        recording.lose("netlog: what came after its last line; it was cut off", 0)
    if log.is_damaged:
        recording.lose("netlog: what its damaged part told", 0)
    offset_ms = 0.0 if recording.is_on_ticks else log.unix_offset_ms
    if offset_ms is None:
        recording.lose("netlog: it has no clock, so that all of its connections are taken", 0)
        there = log.connections
    else:
        there = _list_concurrent(recording, log, offset_ms)
    hosts = {read_host(one.url) for one in recording.exchanges}
    if not any(one.host in hosts or any(request.host in hosts for request in one.requests) for one in there):
        raise ValueError("none of its connections is to a host of the recording")
    return there


def _list_concurrent(recording: Recording, log: BrowserLog, offset_ms: float) -> Sequence[BrowserConnection]:
    """List connections opened or used during the recording; raise ValueError without any."""
    begin = recording.exchanges[0].start_ms - offset_ms
    end = max(one.end_ms for one in recording.exchanges) - offset_ms
    there = log.select_during(begin - _MARGIN_MS, end + _MARGIN_MS)
    if not there:
        instants = [at for one in log.connections for at in (one.opened_ms, *(asked.at_ms for asked in one.requests))]
        if not instants:
            raise ValueError("it has no connection")
        after, before = min(instants) - end, begin - max(instants)
        raise ValueError(
            f"it is of another time: its first connection is {after / 1e3:,.0f} s after the recording's last answer"
            if after > 0
            else f"it is of another time: its last request is {before / 1e3:,.0f} s before the recording's first"
            if before > 0
            else "none of its connections was opened or used while the recording lasted"
        )
    return there


def _fill(recording: Recording, connections: Sequence[BrowserConnection]) -> None:
    addresses: dict[str, str] = {}
    certificates: dict[str, tuple[str, ...]] = {}
    for one in connections:
        for name in (one.host, *one.shared_with):
            if name is not None and one.address is not None:
                addresses.setdefault(name, one.address)
            if name is not None and one.certificate is not None:
                certificates.setdefault(name, (one.certificate,))
    hosts = {host for host in (read_host(one.url) for one in recording.exchanges) if host is not None}
    with_address = {read_host(one.url) for one in recording.exchanges if one.address}
    # Other recorders name a certificate's names: of two kinds no groups can be made.
    if any(one.certificate_names for one in recording.exchanges):
        certificates = {}
    recording.exchanges = [
        replace(
            one,
            address=one.address if read_host(one.url) in with_address else addresses.get(read_host(one.url) or ""),
            certificate_names=one.certificate_names or certificates.get(read_host(one.url) or "", ()),
        )
        for one in recording.exchanges
    ]
    _correct(recording, "addresses of servers", hosts & addresses.keys(), hosts)
    _correct(recording, "certificates of servers", hosts & certificates.keys(), hosts)


def _correct(recording: Recording, what: str, told: set[str], hosts: set[str]) -> None:
    """Remove a loss, or limit the loss to the hosts missing in the log."""
    if what in recording.losses and told:
        del recording.losses[what]
        missing = sum(read_host(one.url) not in told for one in recording.exchanges)
        if hosts - told:
            recording.lose(what, missing)
