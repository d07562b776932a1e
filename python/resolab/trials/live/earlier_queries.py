"""Read the earlier queries of an interrupted campaign from the finished trials.

For: correct cache states after a resume, too. Not for: judging (`cache_state`).
"""

import time
from pathlib import Path

from resolab.basics.records import BrowserKind, LiveTrialRecord, QueryRecord, ResolverPath, TrialEndRecord, TrialRecord
from resolab.store import find_finished_trials, read_trial
from resolab.trials.live.cache_state import QueryHistory
from resolab.trials.live.names import look_ups_expected

WALL_CLOCK_MOVES_S = 10.0
"""The largest step of the wall clock between two readings, in s; a machine needs longer to restart."""


def read_earlier_queries(folder: Path) -> QueryHistory:
    """Read all queries of the finished trials; skip trials from before the machine's last start, with another clock."""
    asked = QueryHistory()
    for file in find_finished_trials(folder).values():
        records = list(read_trial(file))
        head = next((one for one in records if isinstance(one, TrialRecord)), None)
        end = next((one for one in records if isinstance(one, TrialEndRecord)), None)
        if head is None or end is None or not _is_of_this_start(head):
            continue
        of_trial = next((one for one in records if isinstance(one, LiveTrialRecord)), None)
        if of_trial is not None and head.browser is not None and head.resolver_path is ResolverPath.NATIVE:
            look_ups = look_ups_expected(
                of_trial.names,
                ipv6=of_trial.ipv6,
                browser=BrowserKind(head.browser),
                dns_transport=head.dns_transport,
            )
            asked.note_unseen(head.resolver, look_ups, head.monotonic_ns / 1e9, end.monotonic_ns / 1e9)
        for query in sorted(
            (one for one in records if isinstance(one, QueryRecord)), key=lambda one: one.time_origin_ns
        ):
            asked.note(head.resolver, query)
    return asked


def _is_of_this_start(head: TrialRecord) -> bool:
    """Return True when the machine has not restarted since the trial: both clocks then began at the same instant."""
    began_s = (head.wall_time_unix_ns - head.monotonic_ns) / 1e9
    return abs(began_s - (time.time() - time.monotonic())) <= WALL_CLOCK_MOVES_S
