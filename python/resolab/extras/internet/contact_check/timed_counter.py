"""Count contacts with instants: packets from home from now on, for caps of an hour and for batches.

For: the counts of a box running a user's command; the part with the clock and the opt-out list's file. Not for: judging
the counts (`judgement`).
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import EdgeQueryRecord, EdgeRequestRecord, InternetFlow, Record
from resolab.extras.internet.box import Box
from resolab.extras.internet.contact_check.box_contacts import Count, OptOutListing
from resolab.extras.internet.contacts import ContactCounter
from resolab.extras.internet.failures import OPT_OUT_FILE, OPT_OUT_HOST
from resolab.extras.internet.folder import OPT_OUT_FOLDER
from resolab.extras.internet.layout import HOME, BoxLayout
from resolab.plan.manners import OptOut

_FlowKey = tuple[str, str, int | None]
"""The key of a flow: address, protocol, port."""
NANOSECONDS = 1_000_000_000


class TimedContactCounter(ContactCounter):
    """Counts with instants on the monotonic clock. Packets get the instant of the next counting, at most 5 s later."""

    def __init__(self, layout: BoxLayout, opt_out_file: Path, clock: Callable[[], int] = time.monotonic_ns) -> None:
        super().__init__(layout)
        self._clock = clock
        self._from_ns = clock()
        self._windows: dict[_FlowKey, list[Count]] = {}
        self._queries_ns: dict[str, dict[str, list[int]]] = {}
        self._last_requests_ns: dict[str, int] = {}
        self._fetches_ns: list[int] = []
        self._opt_out_file = opt_out_file
        self._listed: dict[str, int] = {}
        self._delisted: list[OptOutListing] = []
        self._look_at_list(self._from_ns)

    def take(self, edge: str, record: Record) -> None:
        """Count a record of an edge; records from before the counting are the box's own."""
        match record:
            case EdgeRequestRecord() if record.received_ns >= self._from_ns:
                super().take(edge, record)
                host = record.authority.partition(":")[0].lower()
                self._last_requests_ns[host] = max(record.received_ns, self._last_requests_ns.get(host, 0))
                if (host, record.path) == (OPT_OUT_HOST, f"/{OPT_OUT_FILE}"):
                    self._fetches_ns.append(record.received_ns)
            case EdgeQueryRecord() if record.received_ns >= self._from_ns:
                super().take(edge, record)
                by_transport = self._queries_ns.setdefault(edge, {})
                by_transport.setdefault(record.dns_transport.value, []).append(record.received_ns)

    def add_flows(self, flows: Iterable[InternetFlow]) -> None:
        """Count packets since the last time, and check the list."""
        taken, now_ns = list(flows), self._clock()
        super().add_flows(taken)
        for flow in taken:
            if flow.source_host == HOME:
                key = (flow.destination_address, flow.protocol, flow.destination_port)
                self._windows.setdefault(key, []).append((now_ns, flow.packets_count))
        self._look_at_list(now_ns)

    def as_dict(self) -> dict[str, object]:
        """Return all counts, for people and programs."""
        told = super().as_dict()
        flows = told["flows"]
        assert isinstance(flows, list)
        for flow in flows:
            if flow["source"] == HOME:
                flow["windows"] = self._windows.get((flow["address"], flow["protocol"], flow["port"]), [])
        standing = [OptOutListing(domain=domain, since_ns=since_ns) for domain, since_ns in self._listed.items()]
        return told | {
            "counted_from_ns": self._from_ns,
            "queries_ns": self._queries_ns,
            "last_requests_ns": self._last_requests_ns,
            "opt_out_fetches_ns": self._fetches_ns,
            "listed": msgspec.to_builtins([*self._delisted, *standing]),
        }

    def _look_at_list(self, now_ns: int) -> None:
        """Note domains added to or removed from the list since the file's last change."""
        try:
            age_ns = max(0, time.time_ns() - self._opt_out_file.stat().st_mtime_ns)
            domains = OptOut.read(self._opt_out_file.read_text("utf-8"), source=str(self._opt_out_file)).domains
        except (OSError, UnicodeDecodeError, ConfigurationError):
            # Nobody can read it now, whoever measures included: it names as before.
            return
        changed_ns = max(self._from_ns, now_ns - age_ns)
        for domain in sorted(self._listed.keys() - domains):
            since_ns = self._listed.pop(domain)
            self._delisted.append(OptOutListing(domain=domain, since_ns=since_ns, until_ns=changed_ns))
        for domain in sorted(domains - self._listed.keys()):
            self._listed[domain] = changed_ns


async def count_from_now(box: Box) -> None:
    """Forget the box's own start-up queries, and count later contacts with instants."""
    await box.count()
    box.contacts = TimedContactCounter(box.layout, box.folder / OPT_OUT_FOLDER / OPT_OUT_FILE)
