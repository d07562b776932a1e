"""A dataset's trials read line by line, and what each load says of an outcome: the slow, plain side of a comparison.

For: judging reports by arithmetic that anybody can follow. Not for: speed; it shares no SQL and no estimate with resolab.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Bounds = tuple[float, float]
INFINITY = float("inf")
OF_THE_INSTRUMENT = {"browser_crash", "browser_hang", "driver", "lab_ended", "left_alone"}
"""Failures after which a load says nothing of the network."""
OUTCOMES = {
    "plt": "plt_ms", "plt_sum": "plt_sum_ms", "response_start": "response_start_ms", "last_byte": "last_byte_ms",
    "fcp": "fcp_ms", "lcp": "lcp_ms",
}  # fmt: skip
AT_LEAST_ITS_LIMIT = {"plt", "response_start"}
"""Every browser tells these: without them a load did not get so far."""

SEEN_BEFORE: dict[str, set[str]] = {"response_start": {"incomplete", "page_timeout"}}
"""By outcome: failures that come after it, so that its own value counts, where it has one."""


@dataclass
class Trial:
    """One trial's file."""

    head: dict[str, Any]
    flags: list[str]
    loads: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    resources: list[dict[str, Any]]
    connections: list[dict[str, Any]]
    summaries: list[dict[str, Any]]
    pages_as_one: bool = False
    block: int = 0
    """The first of its page's blocks, where pages are sampled."""

    @property
    def condition(self) -> str:
        """Its condition, of all pages together where pages are sampled."""
        name = str(self.head["condition"])
        return "all-pages" + name[len(self.head["page"]) :] if self.pages_as_one else name

    @property
    def round(self) -> tuple[int, int]:
        """Its pair: block and, where a page was loaded again, which time."""
        return self.block, int(self.head["block"])

    @property
    def load(self) -> dict[str, Any] | None:
        """Its measured load; since format 1.8 one without all of its page failed, before it had a flag."""
        found = next((one for one in self.loads if one["measured"]), None)
        if found is None:
            return None
        found = dict(found)
        if found.get("failure") is None and "resources_missing" in self.flags:
            found["failure"] = "incomplete"
        if found.get("last_byte_ms") is None and found.get("plt_ms") is not None:
            ends = [one.get("response_end_ms") for one in self.resources]
            inside = [one for one in ends if one is not None and one <= found["plt_ms"]]
            found["last_byte_ms"] = max(inside, default=None)
        return found

    @property
    def failure(self) -> str | None:
        """Why the load failed, if it did; a trial without one has a word of its own."""
        return "no_measured_load" if self.load is None else self.load.get("failure")

    @property
    def is_usable(self) -> bool:
        """Whether its load says anything of the network."""
        return self.load is not None and self.load.get("failure") not in OF_THE_INSTRUMENT

    @property
    def exchange_failed(self) -> bool:
        """Whether the cold exchange failed that its sum is made of."""
        asked = (self.head["dns_connection_state"], self.head["requested_dns_handshake_mode"])
        if asked != ("cold", "full"):
            return False
        return any(
            one.get("failure") is not None
            and one["dns_transport"] == self.head["dns_transport"]
            and one["purpose"] == "measured"
            and one.get("connection") != "warm"
            for one in self.queries
        )

    def says(self, outcome: str) -> Bounds | None:
        """Return within which bounds an outcome lies; None: it says nothing."""
        load = self.load
        if load is None or not self.is_usable:
            return None
        at_least = (load.get("limit_ms") or 0.0, INFINITY)
        value, failure = load.get(OUTCOMES[outcome]), load.get("failure")
        if failure is not None and (value is None or failure not in SEEN_BEFORE.get(outcome, ())):
            return at_least
        if value is not None:
            return value, value
        without_end = outcome in AT_LEAST_ITS_LIMIT or (outcome == "plt_sum" and self.exchange_failed)
        return at_least if without_end else None

    def value(self, outcome: str) -> float | None:
        """Return an outcome's value, if the load told one."""
        bounds = self.says(outcome)
        return None if bounds is None or bounds[0] != bounds[1] else bounds[0]


def read_trials(folder: Path, *, pages_as_one: bool = False) -> list[Trial]:
    """Read every file of a dataset, in the order of blocks and positions."""
    trials = [_read(file) for file in sorted((folder / "trials").rglob("*.jsonl"))]
    trials.sort(key=lambda one: (one.head["block"], one.head["position"]))
    first: dict[str, int] = {}
    for one in trials:
        one.pages_as_one = pages_as_one
        own = int(one.head["block"])
        one.block = first.setdefault(one.head["page"], own) if pages_as_one else own
    return trials


def _read(file: Path) -> Trial:
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]

    def of(kind: str) -> list[dict[str, Any]]:
        return [one for one in records if one["record"] == kind]

    (end,) = of("trial_end")
    (head,) = of("trial")
    return Trial(
        head, list(end["flags"]), of("page_load"), of("query"), of("resource"), of("connection"), of("path_summary")
    )


def cold_queries(trials: list[Trial]) -> Iterator[tuple[Trial, dict[str, Any]]]:
    """Go through our own client's queries that had to open their connection, or needed none."""
    for trial in trials:
        for query in trial.queries:
            if query["purpose"] == "measured" and query.get("connection") != "warm":
                yield trial, query
