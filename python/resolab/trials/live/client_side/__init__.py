"""The events of a load, from the client's side alone, without data of the page's servers or the resolver.

For: handshakes, DNS connections and failures, from the browser's own log, our stub's records and our own client's
repeats; `None` when these sources say nothing. Not for: the lab's loads, judged by the edge (`testbed.judgement`), or
running anything.
"""

from resolab.trials.live.client_side.judgement import LiveLoadJudgement, judge_load
from resolab.trials.live.client_side.load_log import LoadLog, log_settings
from resolab.trials.live.client_side.logged_connection import LoggedConnection
from resolab.trials.live.client_side.look_up_failure import FailureSource

__all__ = [
    "FailureSource",
    "LiveLoadJudgement",
    "LoadLog",
    "LoggedConnection",
    "judge_load",
    "log_settings",
]
