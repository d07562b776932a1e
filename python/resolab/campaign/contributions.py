"""The contributions of a campaign's page loads to an outcome, by condition and block.

For: the stopping rules, trial by trial. Not for: finished datasets, with tables for this purpose (`store`).
"""

from collections.abc import Iterable, Mapping

from resolab.basics.records import ConnectionState, DnsTransport, HandshakeMode, Record
from resolab.plan import Condition
from resolab.stats import Sample
from resolab.store.outcomes import Contribution, LoadOutcome


class OutcomeContributions:
    """The contributions of finished trials, added in any order."""

    def __init__(self, outcome: LoadOutcome, conditions: Iterable[Condition]) -> None:
        self.outcome = outcome
        self._exchanges = {one.id: _find_exchange(one) for one in conditions}
        self._loads: dict[str, dict[int, Contribution]] = {}

    def add(self, condition: str, block: int, records: Iterable[Record]) -> None:
        """Add a finished trial's contribution to the outcome, if any."""
        told = self.outcome.contribution_of_records(list(records), self._exchanges.get(condition))
        if told is not None:
            self._loads.setdefault(condition, {})[block] = told

    def select_first_blocks(self, condition: str, blocks: int) -> dict[int, Contribution]:
        """Return a condition's contributions in the first `blocks` blocks, by block."""
        return {block: load for block, load in self._loads.get(condition, {}).items() if block < blocks}

    def find_contribution(self, condition: str, block: int) -> Contribution | None:
        """Return a condition's contribution in one block."""
        return self._loads.get(condition, {}).get(block)


def make_sample(loads: Mapping[int, Contribution]) -> Sample:
    """Make a sample of contributions, in the order of their blocks."""
    ordered = [loads[block] for block in sorted(loads)]
    return Sample.from_censored([one.value_ms for one in ordered], [one.limit_ms for one in ordered])


def _find_exchange(one: Condition) -> DnsTransport | None:
    """Return the transport of the cold exchange in a condition's sum; `None` for a condition without a sum."""
    cold = one.dns_connection_state is ConnectionState.COLD
    return one.dns_transport if cold and one.requested_dns_handshake_mode is HandshakeMode.FULL else None
