"""The bars met by loads of clones, and the similarity of orders: the evaluation of a file of loads. Pure.

For: `summary`. Not for: the values of the bars (`resolab.extras.fidelity.bars`).
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from benches.clones.lines import Line
from resolab.basics.errors import ConfigurationError
from resolab.extras.fidelity import bars
from resolab.extras.fidelity.measures import Fidelity


def _share(part: int, whole: int, least: float) -> bool:
    return whole == 0 or part / whole >= least


BARS: Mapping[str, Callable[[Fidelity], bool | None]] = {
    f"requests issued, {100 * bars.ISSUED_RATIO:g} % or more": lambda one: _share(
        one.issued_count, one.requests_count, bars.ISSUED_RATIO
    ),
    "no request too many": lambda one: one.extra_count == 0,
    "all hosts": lambda one: one.hosts_asked_count == one.hosts_count,
    f"redirects followed, {100 * bars.REDIRECTS_RATIO:g} % or more": lambda one: _share(
        one.redirects_followed_count, one.redirects_count, bars.REDIRECTS_RATIO
    ),
    f"bodies within {100 * bars.BYTES_RATIO:g} %": lambda one: (
        one.model_bytes == 0 or abs(one.body_bytes / one.model_bytes - 1) <= bars.BYTES_RATIO
    ),
    "depth the model's": lambda one: None if one.depth_seen is None else one.depth_seen == one.depth,
    f"discoverers the model's, {100 * bars.DISCOVERERS_RATIO:g} % or more": lambda one: (
        None if one.discoverers_ratio is None else one.discoverers_ratio >= bars.DISCOVERERS_RATIO
    ),
}
"""The check of each bar by its label; `None` when the browser does not report the fact."""


@dataclass
class PageLoads:
    """The loads of a page in a browser."""

    page: str
    browser: str
    loads: list[Fidelity] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    """The bars missed by loads, each phrase once."""
    tau_of_two: float | None = None

    def meets(self, bar: str) -> bool | None:
        """Return True when all loads meet the bar; `None` without a verdict."""
        found = [told for one in self.loads if (told := BARS[bar](one)) is not None]
        return all(found) if found else None

    @property
    def is_good(self) -> bool:
        """Return True when every load ended and met every known bar."""
        return not self.failures and all(self.meets(bar) is not False for bar in BARS)

    @property
    def tau_apart(self) -> float | None:
        """The median over the loads, against the recording."""
        known = [one.tau_apart for one in self.loads if one.tau_apart is not None]
        return statistics.median(known) if known else None

    @property
    def is_evident(self) -> bool:
        """Return True when the recording names enough discoverers for judging the order."""
        return self.loads[0].evidence_ratio >= bars.EVIDENCE_RATIO


def pages_of(lines: Iterable[Line]) -> list[PageLoads]:
    """Gather lines by page and browser, in their order."""
    found: dict[tuple[str, str], PageLoads] = {}
    for number, line in enumerate(lines, start=1):
        try:
            key = str(line["page"]), str(line["browser"])
            pages = found.setdefault(key, PageLoads(*key))
            if "tau_of_two_loads" in line:
                pages.tau_of_two = float(line["tau_of_two_loads"])
            else:
                pages.loads.append(msgspec.convert(line, Fidelity))
                pages.failures += [str(line["failure"])] if line.get("failure") else []
                pages.short += [phrase for phrase in bars.shortfalls(pages.loads[-1]) if phrase not in pages.short]
        except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            raise ConfigurationError(f"failed to read line {number}, which is no load of a clone: {error}") from error
    return [one for one in found.values() if one.loads]


def group_by_browser(pages: Iterable[PageLoads]) -> Mapping[str, Sequence[PageLoads]]:
    """Sort the loads by browser."""
    found: dict[str, list[PageLoads]] = defaultdict(list)
    for one in pages:
        found[one.browser].append(one)
    return found
